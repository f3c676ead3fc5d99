"""What a definition says of a custom kind in one version, as those see it who handle its objects.

`schemas.structural` has the one implementation; it hangs on the Resource, so that whoever has the
resource knows how its objects are read, completed, checked and shown.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject


class ScalePaths(NamedTuple):
    """Where replicas and their selector stand in an object; `selector` may be empty."""

    replicas: tuple[str, ...]
    current: tuple[str, ...]
    selector: tuple[str, ...] = ()


class CustomKind(Protocol):
    """One version of a custom kind: a hashable value, the same as long as its definition is."""

    def __hash__(self) -> int: ...

    @property
    def schema(self) -> Mapping[str, Any]:  # Any: an OpenAPI schema
        """The schema of its objects, as the definition has it."""

    @property
    def list_kind(self) -> str:
        """The kind of its lists."""

    @property
    def stored_version(self) -> str:
        """The version in whose form new objects are kept."""

    @property
    def selectable(self) -> tuple[str, ...]:
        """The fields that can be selected in any of the versions."""

    @property
    def stored_selectable(self) -> tuple[str, ...]:
        """The fields that can be selected in the version that is stored."""

    @property
    def conversion(self) -> JSONObject:
        """How versions become one another: the definition's `spec.conversion`."""

    @property
    def warning(self) -> str:
        """What every request for this version is warned of; '' for nothing."""

    @property
    def has_status(self) -> bool:
        """Whether the status has an address of its own."""

    @property
    def scale(self) -> ScalePaths | None:
        """Where the scale subresource looks; None if there is none."""

    @property
    def rules(self) -> CustomKind:
        """The kind by which objects are completed and checked before they are kept."""

    converted: MutableMapping[bytes, JSONObject]
    """What a webhook has made of objects lately, by what it was asked."""

    terminating: bool
    """Whether the definition is being deleted, so that nothing new may be made. Changes while all
    else stays the same."""

    def read(self, document: JSONObject) -> Sequence[str]:
        """Bring a sent object into normal form, in place: the paths of what it may not have.

        Raises ValueError for metadata that is none.
        """

    def apply_defaults(self, document: JSONObject) -> None:
        """Fill in what the object leaves out, in place."""

    def complete(self, document: JSONObject) -> bool:
        """Bring a stored object into the form that is stored now; whether anything changed."""

    def faults(self, document: JSONObject, old: JSONObject | None) -> list[Cause]:
        """What is wrong with an object; as a change of `old` only what that did not have."""

    def cells(self, document: JSONObject, now: float) -> list[Any]:  # Any: JSON scalars
        """The cells of its row in a Table."""
