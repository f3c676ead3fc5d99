"""Custom objects: what their definition says decides, and nothing else.

Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.registry.strategies.strategy import Strategy, restore

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

_NOT_SPEC = frozenset(("kind", "apiVersion", "metadata"))


@dataclass(frozen=True, slots=True)
class CustomStrategy(Strategy):
    """With a status address, the status is written there alone; else it is a field like any."""

    counts_generations: bool = True
    unconditional_update: bool = False

    def spec_changed(self, document: JSONObject, old: JSONObject) -> bool:
        """Everything but metadata counts, and but the status where that has its own address."""
        own = _NOT_SPEC | {"status"} if self.has_status else _NOT_SPEC
        keys = (document.keys() | old.keys()) - own
        return any(document.get(key) != old.get(key) for key in keys)

    def prepare_status(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Nothing but the status is taken, and who set it."""
        for key in (document.keys() | old.keys()) - {"metadata", "status", "kind", "apiVersion"}:
            restore(document, old, key)
        metadata = document["metadata"]
        managers = metadata.get("managedFields")
        metadata.clear()
        metadata.update(old["metadata"])
        metadata.pop("managedFields", None)
        if managers:
            metadata["managedFields"] = managers
