"""`/scale`: how many replicas a workload shall have, as one small object that is the same for all.

Reads make a Scale of the workload; writes change its replicas, through `change` like any update.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import Cause, bad_request, conflict, invalid
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.protocol.objects import Encoded, encode
from listwatch.protocol.versions import Version
from listwatch.registry import metadata as meta
from listwatch.registry import scale_managers
from listwatch.registry.admission.request import UPDATE
from listwatch.registry.apply import check
from listwatch.registry.backend import Step
from listwatch.registry.bodies import read_body
from listwatch.registry.change import change
from listwatch.registry.context import Written
from listwatch.registry.patch import check_patch_type, patched

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.custom_kinds import ScalePaths
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend, Key, State
    from listwatch.registry.context import RequestContext

SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_CURRENT = ("status", "replicas")
_SHOWN = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_version(ctx: RequestContext, version: Version) -> Version:
    """The Scale of a workload, as a version that can be written like one."""
    scale = scale_of(version.decode(), _paths(ctx))
    return Version(
        namespace=version.namespace,
        name=version.name,
        uid=version.uid,
        revision=version.revision,
        encoded=encode(scale),
        labels={},
        fields={},
    )


async def update_scale(backend: Backend, ctx: RequestContext, document: JSONObject) -> Written:
    """Set the replicas as a whole Scale says; raises 400, 404, 409, 422."""
    document = read_body(ctx, document, SCALE, backend.resources)
    _match(ctx, document)
    return await _write(backend, ctx, lambda _: document)


async def patch_scale(
    backend: Backend, ctx: RequestContext, patch_type: str, patch: Any
) -> Written:
    """Set the replicas as the patched Scale says (Any: JSON); raises 400, 404, 409, 415, 422."""
    check_patch_type(patch_type)
    body = orjson.dumps(patch)

    def wanted(scale: JSONObject) -> JSONObject:
        document = patched(backend, ctx, SCALE, patch_type, scale, orjson.loads(body))
        _match(ctx, document)
        return document

    return await _write(backend, ctx, wanted)


async def apply_scale(backend: Backend, ctx: RequestContext, config: Any) -> Written:
    """Set the replicas as an applied Scale says (Any: JSON as it came); raises 400, 404, 409."""
    check(SCALE, config)
    key, body = backend.key(ctx), orjson.dumps(config)

    def transform(state: State) -> Step:
        document = state.document()
        now = rfc3339(backend.clock.now())
        where = scale_managers.places(backend.resources, ctx.resource)
        scale = scale_managers.apply(
            ctx, document, (scale_of(document, _paths(ctx)), orjson.loads(body)), where, now
        )
        _match(ctx, scale)

        def step(scale: JSONObject) -> Step:
            _set_replicas(ctx, key, state, document, scale)
            return change(backend, replace(ctx, admitted=True), key, state, document)

        return _admitted(backend, ctx, state, scale, step)

    outcome = await backend.settle(key, transform, dry_run=ctx.dry_run)
    return Written(_encoded_scale(ctx, outcome.step.answer), outcome.revision, created=False)


async def _write(
    backend: Backend, ctx: RequestContext, wanted: Callable[[JSONObject], JSONObject]
) -> Written:
    key = backend.key(ctx)

    def transform(state: State) -> Step:
        old = scale_of(state.document(), _paths(ctx))

        def step(scale: JSONObject) -> Step:
            document = state.document()
            _set_replicas(ctx, key, state, document, scale)
            now = rfc3339(backend.clock.now())
            where = scale_managers.places(backend.resources, ctx.resource)
            scale_managers.track(ctx, document, (old, scale), where, now)
            return change(backend, replace(ctx, admitted=True), key, state, document)

        return _admitted(backend, ctx, state, wanted(copy.deepcopy(old)), step)

    outcome = await backend.settle(key, transform, dry_run=ctx.dry_run)
    return Written(_encoded_scale(ctx, outcome.step.answer), outcome.revision, created=False)


def _admitted(
    backend: Backend, ctx: RequestContext, state: State, scale: JSONObject,
    step: Callable[[JSONObject], Step],
) -> Step:  # fmt: skip
    # Admission is about the Scale as it was sent, not about the workload that it changes.
    review = backend.admission.review(ctx, UPDATE, scale, SCALE)
    if review is None:
        return step(scale)
    old = scale_of(state.document(), _paths(ctx))

    async def asked() -> Step:
        admitted = await review.mutate(scale, old)
        made = step(admitted)
        await review.check(admitted, old)
        return made

    return Step(None, state.encoded, asked)


def _set_replicas(
    ctx: RequestContext, key: Key, state: State, document: JSONObject, scale: JSONObject
) -> None:
    metadata = scale["metadata"]
    if metadata.get("uid") and metadata["uid"] != state.uid:
        raise conflict(
            key.shown, key.name,
            f"Precondition failed: UID in precondition: {metadata['uid']}, "
            f"UID in object meta: {state.uid}",
        )  # fmt: skip
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if replicas < 0:
        why = f"Invalid value: {replicas}: must be greater than or equal to 0"
        raise invalid(SCALE, ctx.name, (Cause("FieldValueInvalid", why, "spec.replicas"),))
    paths, version = _paths(ctx), metadata.get("resourceVersion") or ""
    # A Scale that names a version means that version of the workload. One that names none means
    # any, which updates of custom objects cannot say.
    if version or paths is None:
        document["metadata"]["resourceVersion"] = version
    _put(document, ("spec", "replicas") if paths is None else paths.replicas, replicas)


def _match(ctx: RequestContext, document: JSONObject) -> None:
    metadata = meta.metadata_of(document)
    meta.match_namespace(ctx, metadata)
    meta.match_name(ctx, metadata)


def _encoded_scale(ctx: RequestContext, encoded: Encoded) -> Encoded:
    return encode(scale_of(orjson.loads(encoded.body), _paths(ctx)))


def _paths(ctx: RequestContext) -> ScalePaths | None:
    return None if ctx.resource.custom is None else ctx.resource.custom.scale


def _at(document: JSONObject, path: tuple[str, ...]) -> Any:  # Any: a JSON value
    value: Any = document
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _put(document: JSONObject, path: tuple[str, ...], value: int) -> None:
    for index, key in enumerate(path[:-1], 1):
        inner: Any = document.setdefault(key, {})  # Any: a JSON value
        if not isinstance(inner, dict):
            # The object was there before its definition had a scale.
            where = ".".join(path[:index])
            raise bad_request(
                f"value cannot be set because .{where} is not a map[string]interface{{}}"
            )
        document = inner
    document[path[-1]] = value


def scale_of(document: JSONObject, paths: ScalePaths | None = None) -> JSONObject:
    """The Scale of a workload as a new dict; a custom one says where its replicas stand."""
    metadata = document["metadata"]
    if paths is None:
        replicas, current = _at(document, ("spec", "replicas")), _at(document, _CURRENT)
        selector = selector_text(_at(document, ("spec", "selector")) or {})
    else:
        replicas, current = _at(document, paths.replicas), _at(document, paths.current)
        selector = (_at(document, paths.selector) or "") if paths.selector else ""
    status: JSONObject = {"replicas": current or 0}
    if selector:
        status["selector"] = selector
    return {
        "kind": SCALE.kind,
        "apiVersion": SCALE.api_version,
        "metadata": {key: metadata[key] for key in _SHOWN if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def selector_text(selector: JSONObject) -> str:
    """A label selector object as the text of a `labelSelector` parameter.

    A replication controller's is a plain map of labels.
    """
    labelled = "matchLabels" in selector or "matchExpressions" in selector
    labels = selector.get("matchLabels") or {} if labelled else selector
    parts = [(key, f"{key}={value}") for key, value in labels.items()]
    if labelled:
        terms = selector.get("matchExpressions") or []
        parts += [(term["key"], _expression(term)) for term in terms]
    return ",".join(text for _, text in sorted(parts))


def _expression(term: JSONObject) -> str:
    key, values = term["key"], ",".join(sorted(term.get("values") or ()))
    forms = {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} notin ({values})",
        "Exists": key,
        "DoesNotExist": f"!{key}",
    }
    return str(forms.get(term["operator"], ""))
