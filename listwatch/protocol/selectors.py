"""Label and field selectors together: the one question a list, a watch or a lane asks of a version.

The halves are in `label_selectors` and `field_selectors`. A Selector is part of the key of a lane
in `watchcache`, which finds the lanes of an event by `equality_terms`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from listwatch.protocol.field_selectors import EVERYTHING as ALL_FIELDS
from listwatch.protocol.field_selectors import FieldSelector
from listwatch.protocol.label_requirements import Operator
from listwatch.protocol.label_selectors import EVERYTHING as ALL_LABELS
from listwatch.protocol.label_selectors import LabelSelector

if TYPE_CHECKING:
    from listwatch.protocol.versions import Version

__all__ = [
    "ALL_FIELDS", "ALL_LABELS", "EVERYTHING", "FieldSelector", "LabelSelector", "Selector", "Term",
]  # fmt: skip


class Term(NamedTuple):
    """A label or a field that must have this value: what an inverted index can look up."""

    kind: Literal["label", "field"]
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Selector:
    """Which versions a list or a watch wants: both halves must match.

    Frozen and hashable; equal for texts that differ only in order, spaces or `==`.
    """

    labels: LabelSelector = ALL_LABELS
    fields: FieldSelector = ALL_FIELDS

    @staticmethod
    def parse(labels: str = "", fields: str = "") -> Selector:
        """Read both texts; raises StatusError 400. The fields are not checked against a kind."""
        return Selector(LabelSelector.parse(labels), FieldSelector.parse(fields))

    def matches(self, version: Version) -> bool:
        """Whether a version is wanted; its `fields` hold its name and namespace, too."""
        return self.labels.matches(version.labels) and self.fields.matches(version.fields)

    @property
    def empty(self) -> bool:
        """Whether it wants everything."""
        return self.labels.empty and self.fields.empty

    def equality_terms(self) -> tuple[tuple[Term, ...], ...]:
        """What every wanted version has: of each inner tuple at least one of the alternatives.

        `in (a, b)` gives two alternatives; a term without a positive equality gives nothing. A
        field that an object lacks counts as '', a label that it lacks does not.
        """
        labels = tuple(
            tuple(Term("label", key, value) for value in values)
            for key, operator, values in self.labels.requirements
            if operator in (Operator.EQUALS, Operator.IN)
        )
        fields = tuple((Term("field", t.key, t.value),) for t in self.fields.terms if not t.negated)
        return labels + fields

    def __str__(self) -> str:
        parts = [("labels", str(self.labels)), ("fields", str(self.fields))]
        return " ".join(f"{name}:{text}" for name, text in parts if text)


EVERYTHING = Selector()
