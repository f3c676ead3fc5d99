"""The rules that most kinds share, and the places where a kind differs.

`strategies.table` has the kinds that do; the verbs call a strategy between decoding and validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.options import DeleteOptions
    from listwatch.registry.context import UserInfo

_NOT_SPEC = frozenset(("kind", "apiVersion", "metadata", "status"))


@dataclass(frozen=True, slots=True)
class Strategy:
    """How the objects of one kind are prepared; each method changes `document` in place.

    The defaults fit a kind without rules of its own. `old` must not be changed.
    """

    has_status: bool = False  # the status has an address of its own; elsewhere it is the server's
    status_at_create: bool = False  # and may be sent along when the object is made all the same
    counts_generations: bool = False
    unconditional_update: bool = True  # an update without resourceVersion overwrites
    create_on_update: bool = False  # PUT makes what is not there
    answers_deleted_object: bool = False  # a delete is answered with the object, not a Status
    collects_garbage: bool = True  # orphans and dependents mean something
    orphans_by_default: bool = False

    def strip(self, document: JSONObject) -> None:
        """Before defaulting: take off a new object what is not the client's to say."""
        if self.has_status and not self.status_at_create:
            document.pop("status", None)

    def sign(self, document: JSONObject, user: UserInfo) -> None:
        """Before defaulting: write down who makes the object, where its kind wants to know."""

    def warnings(self, document: JSONObject) -> list[str]:
        """What whoever writes such an object should know, though it is not refused."""
        return []

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """Before validation: what a new object begins with."""
        if self.counts_generations:
            document["metadata"]["generation"] = 1

    def prepare_update(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Before validation: what an update at the main address may not touch."""
        if self.has_status:
            restore(document, old, "status")
        if self.counts_generations and self.spec_changed(document, old):
            document["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def prepare_status(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Before validation: what an update of the status may not touch."""
        for key in (document.keys() | old.keys()) - {"metadata", "status", "kind", "apiVersion"}:
            restore(document, old, key)

    def spec_changed(self, document: JSONObject, old: JSONObject) -> bool:
        """Whether the difference counts as a new generation."""
        keys = (document.keys() | old.keys()) - _NOT_SPEC
        return any(document.get(key) != old.get(key) for key in keys)

    def validate(
        self, document: JSONObject, old: JSONObject | None, subresource: str
    ) -> list[Cause]:
        """Faults that `schemas.validation` cannot know of."""
        return []

    def grace_period(self, document: JSONObject, options: DeleteOptions) -> int | None:
        """Seconds between the request to delete and the end; None: the kind knows no such time."""
        return None

    def warnings_on_delete(self) -> tuple[str, ...]:
        """What to tell who deletes an object and does not say what becomes of its dependents."""
        return ()

    def mark_deleting(self, document: JSONObject) -> None:
        """What else changes when an object begins to be deleted."""

    def may_go(self, document: JSONObject) -> bool:
        """Whether nothing but metadata.finalizers and the grace period can hold the object."""
        return True


def restore(document: JSONObject, old: JSONObject, key: str) -> None:
    """Give a field the value that it had, or none if it had none."""
    if key in old:
        document[key] = old[key]
    else:
        document.pop(key, None)
