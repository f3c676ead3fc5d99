"""Reading, completing and checking an object by the rules of its kind, built in or custom.

The verbs come here, so that none of them asks where the rules of a kind stand: built-in kinds have
theirs in `schemas`, a custom kind in its definition, which hangs on the resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.registry.conversions import stored_kind
from listwatch.schemas import decoding, defaults
from listwatch.schemas.decoding import Decoded, DecodeError
from listwatch.schemas.validation import validate as validate_builtin

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.kinds import GroupVersionKind, Resource
    from listwatch.protocol.objects import JSONObject


def decode(resource: Resource, gvk: GroupVersionKind, document: JSONObject) -> Decoded:
    """An object of that kind, at an address of the resource, in normal form, in place.

    Raises DecodeError.
    """
    if resource.custom is None or gvk != resource.gvk:
        return decoding.decode(gvk, document)
    try:
        unknown = resource.custom.read(document)
    except ValueError as error:
        raise DecodeError(str(error)) from None
    return Decoded(document, list(unknown))


def apply_defaults(resource: Resource, document: JSONObject) -> None:
    """Fill in what an object leaves out, in place."""
    if resource.custom is None:
        defaults.apply_defaults(stored_kind(resource), document)
    else:
        resource.custom.rules.apply_defaults(document)


def validate(
    resource: Resource,
    document: JSONObject,
    *,
    old: JSONObject | None = None,
    subresource: str = "",
) -> list[Cause]:
    """The faults of an object, or of the change from `old` to it."""
    faults = validate_builtin(stored_kind(resource), document, old=old, subresource=subresource)
    if resource.custom is None:
        return list(faults)
    return [*faults, *resource.custom.rules.faults(document, old)]
