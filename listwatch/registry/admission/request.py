"""One write as admission sees it, and what a plugin is. Values and a protocol only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from listwatch.protocol.kinds import GroupVersionKind
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import RequestContext
    from listwatch.store.writes import Guard

CREATE, UPDATE, DELETE = "CREATE", "UPDATE", "DELETE"


@dataclass(slots=True)
class AdmissionRequest:
    """One write.

    `document` is the new object in its stored form, `old` the one before: a creation has no old
    one, a deletion no new one. Plugins change `document` in place, or put another in its stead.
    `shape` is their kind where that is not the kind of the resource, as a Scale of a workload is.
    """

    ctx: RequestContext
    operation: str
    document: JSONObject | None
    old: JSONObject | None
    shape: GroupVersionKind | None = None

    @property
    def name(self) -> str:
        """The name of the object, '' if it will be generated."""
        name: str = self.ctx.name or self.either["metadata"].get("name") or ""
        return name

    @property
    def either(self) -> JSONObject:
        """The new object, or the old one if there is no new one."""
        found = self.old if self.document is None else self.document
        assert found is not None
        return found


class Plugin:
    """One rule of admission; by default it does nothing. A refusal is a StatusError."""

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """Whether there is anything to do. Asked of every write: must be quick."""
        return True

    async def mutate(self, request: AdmissionRequest) -> None:
        """Before validation, the object is defaulted: change it, or refuse it."""

    async def check(self, request: AdmissionRequest) -> Guard | None:
        """After validation: refuse it, or have a guard look at it inside the transaction."""
        return None


def spec_of(document: JSONObject) -> JSONObject:
    """The spec as it stands in an object; made if there is none."""
    spec: JSONObject | None = document.get("spec")
    if spec is None:
        spec = document["spec"] = {}
    return spec
