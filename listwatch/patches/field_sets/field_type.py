"""What a set of fields must know of a kind: what is a leaf, and how list elements are told apart.

Implemented by `schemas.field_types`; this floor may not import that one. The other modules of this
package walk objects along these types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

# What stands at a place of an object. A map is an object, be its keys declared or data; what is
# deduced is whatever the value is, objects being looked into and lists not; what is untyped is
# whatever the value is, and never looked into.
Form = Literal["map", "list", "scalar", "deduced", "untyped"]


class FieldType(Protocol):
    """One place in a kind."""

    @property
    def form(self) -> Form:
        """What stands here."""

    @property
    def atomic(self) -> bool:
        """Whether this object or list is owned as a whole."""

    @property
    def loose(self) -> bool:
        """Whether values below may change their type: true becoming 1 is a change then."""

    @property
    def scalar(self) -> str:
        """`string`, `number`, `boolean`, or '' for any of them."""

    @property
    def keys(self) -> Sequence[tuple[str, Any]]:  # Any: a JSON value
        """The fields that tell list elements apart, sorted, and their defaults (None: none).

        Empty for a list of scalars, which are told apart by what they are.
        """

    @property
    def items(self) -> FieldType:
        """What the elements of this list are."""

    def declares(self, name: str) -> bool:
        """Whether the kind names this field, rather than taking it as data."""

    def field(self, name: str) -> FieldType | None:
        """What a field of this object is; None for one that the kind does not have."""
