"""Server-side apply: a configuration is merged into the object, or makes it.

The configuration is checked against its kind and merged by `patches.server_side_apply`; the result
meets the old object in `change`, or goes to `create` if there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from listwatch.patches import managed_fields, server_side_apply
from listwatch.patches.field_sets.elements import UnkeyedError
from listwatch.patches.field_sets.sets import has
from listwatch.patches.managed_fields import APPLY, BEFORE_FIRST_APPLY, UPDATE, Managers
from listwatch.patches.server_side_apply import ConflictsError
from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import StatusError, bad_request, conflict
from listwatch.protocol.kinds import GroupVersionKind, split_api_version
from listwatch.registry import last_applied
from listwatch.registry import metadata as meta
from listwatch.registry.authorization.creating import check_may_create
from listwatch.registry.change import change, written
from listwatch.registry.conversions import to_served, to_stored
from listwatch.registry.create import create_read
from listwatch.registry.field_managers import StoredVersions, change_of, load, type_of
from listwatch.registry.object_rules import decode
from listwatch.schemas.decoding import DecodeError
from listwatch.schemas.fields import cannot_be_handled

if TYPE_CHECKING:
    from listwatch.patches.field_sets.field_type import FieldType
    from listwatch.patches.server_side_apply import Versions
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend, State, Step
    from listwatch.registry.context import RequestContext, Written

_TRIES = 8  # of an object that others make and delete all the time


class Target(NamedTuple):
    """What a configuration is applied to: a kind, its type, and how a change of it is compared."""

    gvk: GroupVersionKind
    ftype: FieldType
    versions: Callable[[JSONObject | None, JSONObject], Versions]


async def apply(backend: Backend, ctx: RequestContext, config: Any) -> Written:
    """Apply a configuration (Any: JSON as it came); raises 400, 403, 404, 409, 422.

    An object that is not there is made, but for a subresource.
    """
    check(ctx.resource.gvk, config)
    key, body = backend.key(ctx), orjson.dumps(config)
    target = Target(
        ctx.resource.gvk,
        type_of(ctx.resource),
        lambda old, new: StoredVersions(
            ctx.resource,
            backend.resources,
            None if old is None else to_stored(ctx.resource, old),
            to_stored(ctx.resource, new),
        ),
    )

    def transform(state: State) -> Step:
        live = to_served(ctx.resource, state.document())
        document = _applied(backend, ctx, target, orjson.loads(body), live)
        return change(backend, ctx, key, state, to_stored(ctx.resource, document))

    ctx.applied = True
    for _ in range(_TRIES):
        try:
            outcome = await backend.settle(key, transform, dry_run=ctx.dry_run)
            return written(ctx, outcome)
        except StatusError as error:
            if error.reason != "NotFound" or ctx.subresource:
                raise
        check_may_create(backend.authorizer, ctx)
        document = _applied(backend, ctx, target, orjson.loads(body), None)
        if document["metadata"].get("uid"):
            uid = document["metadata"]["uid"]
            why = (
                f"uid mismatch: the provided object specified uid {uid}, and no existing object "
                "was found"
            )
            raise conflict(key.shown, ctx.name, why)
        try:
            return await create_read(backend, ctx, document)
        except StatusError as error:
            if error.reason != "AlreadyExists":
                raise
    raise conflict(key.shown, ctx.name)


def check(gvk: GroupVersionKind, config: Any) -> None:
    """Raise 400 for a body that is no configuration of this kind (Any: JSON as it came)."""
    if not isinstance(config, dict):
        raise bad_request("error decoding YAML: a configuration must be an object")
    kind, version = config.get("kind") or "", config.get("apiVersion") or ""
    if (kind, version) != (gvk.kind, gvk.api_version):
        raise bad_request(f"invalid object type: {_named(kind, version)}")
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")


def _named(kind: object, version: object) -> str:
    if not isinstance(version, str) or version.count("/") > 1:
        kind, version = "", ""
    group, short = split_api_version(str(version))
    return f"{group}/{short}, Kind={kind if isinstance(kind, str) else ''}"


def configured(
    ctx: RequestContext,
    target: Target,
    config: JSONObject,
    live: tuple[JSONObject | None, Managers],
    now: str,
) -> tuple[JSONObject, Managers]:
    """The live object, which is not there (None) or has these managers, with a configuration.

    The result is in normal form and is nobody else's. Raises 400, 409.
    """
    old, managers = live
    _refuse_faulty(target, config)
    if old is not None and not managers:
        managers = _before(ctx, target, old, now)

    def attempt(*, force: bool) -> tuple[JSONObject, Managers]:
        asked = _change(ctx, target, (old, {}), now)
        document, claimed = server_side_apply.merged(
            target.ftype, old or {}, config, managers, asked
        )
        document = _normal(ctx, target.gvk, document)
        asked = _change(ctx, target, (old, document), now)
        return document, server_side_apply.settled(claimed, asked, force=force)

    try:
        document, managers = attempt(force=ctx.force)
    except UnkeyedError as error:
        raise bad_request(f"failed to apply to {_described(target, config)}: {error}") from None
    except ConflictsError as error:
        if ctx.field_manager != last_applied.KUBECTL or old is None:
            raise
        allowed = last_applied.allowed(target.ftype, old, target.gvk.api_version)
        left = [each for each in error.conflicts if not has(allowed, each.path)]
        if left:
            raise ConflictsError(left) from None
        document, managers = attempt(force=True)
    if ctx.field_manager == last_applied.KUBECTL:
        last_applied.keep_up(document, config)
    _refuse_doubled(ctx)
    return document, managers


def _applied(
    backend: Backend,
    ctx: RequestContext,
    target: Target,
    config: JSONObject,
    live: JSONObject | None,
) -> JSONObject:
    entries = live["metadata"].pop("managedFields", []) if live else []
    now = rfc3339(backend.clock.now())
    loaded = load(ctx.resource, entries)
    document, managers = configured(ctx, target, config, (live, loaded), now)
    metadata = meta.metadata_of(document)
    meta.match_namespace(ctx, metadata)
    meta.match_name(ctx, metadata)
    if managers:
        metadata["managedFields"] = managed_fields.dump(managers)
    return document


def _refuse_faulty(target: Target, config: JSONObject) -> None:
    why = server_side_apply.refusal(target.ftype, config)
    if why:
        described = _described(target, config)
        raise bad_request(f"failed to create typed patch object ({described}): {why}")


def _described(target: Target, config: JSONObject) -> str:
    metadata = config.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    gvk = target.gvk
    where = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
    return f"{where}; {gvk.group}/{gvk.version}, Kind={gvk.kind}"


def _refuse_doubled(ctx: RequestContext) -> None:
    if not ctx.duplicates or ctx.field_validation == "Ignore":
        return
    if ctx.field_validation == "Strict":
        lines = "\n".join(f"  {fault}" for fault in ctx.duplicates)
        raise bad_request(f"error strict decoding YAML: yaml: unmarshal errors:\n{lines}")
    ctx.warnings.extend(fault for fault in ctx.duplicates if fault not in ctx.warnings)


def _before(ctx: RequestContext, target: Target, old: JSONObject, now: str) -> Managers:
    # What stands in an object that was not tracked is as if somebody had updated it.
    asked = _change(ctx, target, (None, old), now)
    manager = managed_fields.manager(
        BEFORE_FIRST_APPLY, UPDATE, target.gvk.api_version, ctx.subresource
    )
    try:
        return server_side_apply.updated({}, asked._replace(manager=manager))
    except UnkeyedError:
        return {}


def _change(
    ctx: RequestContext,
    target: Target,
    documents: tuple[JSONObject | None, JSONObject],
    now: str,
) -> server_side_apply.Change:
    return change_of(ctx, target.versions(*documents), (APPLY, target.gvk.api_version), now)


def _normal(ctx: RequestContext, gvk: GroupVersionKind, document: JSONObject) -> JSONObject:
    # It shares parts with the live object and the configuration, and is changed from here on.
    document = orjson.loads(orjson.dumps(document))
    try:
        return decode(ctx.resource, gvk, document).document
    except DecodeError as error:
        raise bad_request(cannot_be_handled(gvk, str(error))) from None
