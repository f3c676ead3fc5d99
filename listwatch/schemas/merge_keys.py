"""How a strategic merge patch merges each list and object of a built-in kind.

Read off the schemas' `x-kubernetes-patch-*` facts as far as a patch goes into the kind. The
caller is `registry`, which hands the schema of a kind to `patches.strategic_merge`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from listwatch.schemas.shapes import Kind, Shape, shape_of_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from listwatch.protocol.kinds import GroupVersionKind

_NOTHING: Mapping[str, Any] = {}


class PatchSchema:
    """One place in a kind: `patches.patch_schema` says what each of its parts means."""

    __slots__ = ("_fields", "_items", "_shape", "merge_key", "strategies")

    def __init__(self, shape: Shape, facts: Mapping[str, Any] = _NOTHING) -> None:
        self._shape = shape
        self._fields: dict[str, PatchSchema | None] = {}
        self._items: PatchSchema | None = None
        self.merge_key: str = facts.get("x-kubernetes-patch-merge-key", "")
        strategy: str = facts.get("x-kubernetes-patch-strategy", "")
        self.strategies: frozenset[str] = frozenset(filter(None, strategy.split(",")))

    @property
    def is_list(self) -> bool:
        """Whether a list stands here."""
        return self._shape.kind is Kind.LIST

    @property
    def is_map(self) -> bool:
        """Whether an object stands here whose keys are data."""
        return self._shape.kind is Kind.MAP

    @property
    def items(self) -> PatchSchema | None:
        """What holds for the elements of this list, or for the values of this map."""
        if self._items is None and (self.is_list or self.is_map):
            self._items = PatchSchema(self._shape.items)
        return self._items

    def field(self, name: str) -> PatchSchema | None:
        """What holds for a field of this object; None for a field that the kind does not have."""
        if self.is_map:
            return self.items
        if name not in self._fields:
            field = self._shape.fields.get(name)
            self._fields[name] = None if field is None else PatchSchema(field.shape, field.schema)
        return self._fields[name]


@cache
def schema_for(gvk: GroupVersionKind) -> PatchSchema | None:
    """The schema of a built-in kind; None for any other, which has no strategic merge."""
    shape = shape_of_kind(gvk)
    return None if shape is None else PatchSchema(shape)
