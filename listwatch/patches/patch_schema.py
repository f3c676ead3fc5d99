"""What a strategic merge patch must know of a kind: how each list and object is merged.

Implemented by `schemas.merge_keys`; this floor may not import that one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection


class PatchSchema(Protocol):
    """One place in a kind. An unknown field has none: objects merge there, lists are replaced."""

    @property
    def merge_key(self) -> str:
        """The field that tells the elements of a merged list of objects apart; else ''."""

    @property
    def strategies(self) -> Collection[str]:
        """Of `merge`, `replace` and `retainKeys` those that are declared here."""

    @property
    def items(self) -> PatchSchema | None:
        """What holds for the elements of this list."""

    def field(self, name: str) -> PatchSchema | None:
        """What holds for a field of this object, or for a value of this map."""
