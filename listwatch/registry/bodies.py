"""From a body to an object of the kind: what it claims to be, its types, its unknown fields.

Used by create, update and patch before the kind's own rules; the result goes on to defaulting and
validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orjson import dumps

from listwatch.patches.managed_fields import keep_reset
from listwatch.protocol.errors import Cause, StatusError, bad_request
from listwatch.protocol.kinds import GroupVersionKind, split_api_version
from listwatch.protocol.names import quoted
from listwatch.registry.object_rules import decode
from listwatch.schemas import fields
from listwatch.schemas.decoding import DecodeError
from listwatch.schemas.fields import cannot_be_handled
from listwatch.schemas.structural.numbers import value_text

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import RequestContext
    from listwatch.registry.resources import ResourceTable

_SCHEME = 'in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"'


def read_body(
    ctx: RequestContext, document: JSONObject, gvk: GroupVersionKind, resources: ResourceTable
) -> JSONObject:
    """The body as an object of this kind, changed in place; raises 400.

    A body that names no kind or version is of this one. Unknown and doubled fields are refused,
    warned of or passed over as the request wants; none of them is kept.
    """
    check_kind(document, gvk, resources)
    keep_reset(document)
    try:
        document, unknown = decode(ctx.resource, gvk, document)
    except DecodeError as error:
        raise bad_request(cannot_be_handled(gvk, str(error))) from None
    faults = strict_faults(ctx, unknown)
    if faults:
        raise bad_request(cannot_be_handled(gvk, faults))
    return document


def check_kind(document: JSONObject, gvk: GroupVersionKind, resources: ResourceTable) -> None:
    """Fill in the kind and version that a body leaves out; raises 400 if it names others."""
    kind = document.get("kind") or gvk.kind
    version = document.get("apiVersion") or gvk.api_version
    if (kind, version) == (gvk.kind, gvk.api_version):
        document["kind"], document["apiVersion"] = kind, version
        return
    if not (isinstance(kind, str) and isinstance(version, str)):
        raise bad_request(
            cannot_be_handled(gvk, "json: cannot unmarshal kind or apiVersion into a string")
        )
    group, short = split_api_version(version)
    if resources.knows_kind(GroupVersionKind(group, short, kind)):
        package = gvk.group.partition(".")[0] or "core"
        why = f"converting ({short}.{kind}) to ({package}.{gvk.kind}): unknown conversion"
    else:
        why = f'no kind "{kind}" is registered for version "{version}" {_SCHEME}'
    raise bad_request(f'{kind} in version "{short}" cannot be handled as a {gvk.kind}: {why}')


def strict_faults(ctx: RequestContext, unknown: list[str]) -> str:
    """What a strict request is refused with, '' for nothing; a warning request is warned."""
    if ctx.field_validation == "Ignore" or not (unknown or ctx.duplicates):
        return ""
    if ctx.members:
        faults = fields.strict_faults(unknown, ctx.members)
    else:
        faults = [f'unknown field "{path}"' for path in unknown]
        faults += [f'duplicate field "{path}"' for path in ctx.duplicates]
    if ctx.field_validation == "Strict":
        return "strict decoding error: " + ", ".join(faults)
    ctx.warnings.extend(fault for fault in faults if fault not in ctx.warnings)
    return ""


def patch_refused(why: str, patch: str) -> StatusError:
    """422 for a patch, as `patch_text` has it, whose result is no object of the kind."""
    message = f"Invalid value: {quoted(patch)}: {why}"
    return StatusError(
        422, "Invalid", f' "" is invalid: patch: {message}',
        causes=(Cause("FieldValueInvalid", message, "patch"),),
    )  # fmt: skip


def patch_text(patch: object, *, converted: bool = False) -> str:
    """A patch as it is quoted: as JSON, or as Go prints a map if upstream has `converted` it."""
    return value_text(patch) if converted else dumps(patch).decode()
