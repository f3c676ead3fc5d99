"""The order in which faults are looked for, which is the order of the causes in a Status.

Upstream: apiserver/pkg/registry/rest/{create,update}.go and the ValidateX and ValidateXUpdate
functions of each kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.schemas.validation.metadata import metadata_faults, metadata_update_faults
from listwatch.schemas.validation.rules import NO_RULES, PARTS, RULES

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.kinds import GroupVersionKind
    from listwatch.protocol.objects import JSONObject


def validate(
    gvk: GroupVersionKind,
    document: JSONObject,
    *,
    old: JSONObject | None = None,
    subresource: str = "",
) -> list[Cause]:
    """The faults of an object, or of the change from `old` to it; an empty list if there are none.

    The object is decoded and defaulted; a kind that is not built in has its metadata looked at.
    Parts of an object that change at an address of their own may have rules of their own.
    """
    rules = PARTS.get((gvk, subresource)) or RULES.get(gvk, NO_RULES)
    metadata = document.get("metadata") or {}
    own = metadata_faults(gvk, metadata)
    if old is None:
        new = [] if rules.new_faults is None else rules.new_faults(document)
        return own + rules.faults(document) + new
    change = metadata_update_faults(metadata, old.get("metadata") or {})
    # Upstream looks at metadata twice on update, for all kinds and for this one. A Status tells
    # each of these causes as often, its message once.
    faults = [*own, *change, *change]
    if rules.spec_only and document.get("spec") == old.get("spec"):
        # Most updates of these kinds are of the status, and nothing else of them has rules.
        return faults + own
    return [*faults, *rules.update_faults(document, old), *own, *rules.faults(document)]
