"""A set that was written when the kind had another schema, in terms of the one that it has now.

What has become one value is owned as such. The other way round nothing is done, as upstream: what
was one value is owned as if it had never been. For custom kinds, whose definitions change;
`registry.field_managers` asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.patches.field_sets.sets import FieldSet

if TYPE_CHECKING:
    from listwatch.patches.field_sets.field_type import FieldType


def reconciled(ftype: FieldType | None, fields: FieldSet) -> FieldSet:
    """The set, what lies within a single value having become that value."""
    if not fields or ftype is None or ftype.form not in ("map", "list"):
        return fields
    if ftype.atomic:
        return {}
    is_map = ftype.form == "map"
    return {
        key: reconciled(ftype.field(key[2:]) if is_map else ftype.items, node) if node else node
        for key, node in fields.items()
    }
