"""Deployments, daemon sets and endpoint slices: what counts as a new generation of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.registry.strategies.strategy import Strategy, restore

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


@dataclass(frozen=True, slots=True)
class DeploymentStrategy(Strategy):
    """Deployments; upstream: pkg/registry/apps/deployment/strategy.go."""

    has_status: bool = True
    counts_generations: bool = True

    def spec_changed(self, document: JSONObject, old: JSONObject) -> bool:
        """Annotations count, too: they are copied to the replica sets."""
        return Strategy.spec_changed(self, document, old) or _differ(document, old, "annotations")

    def prepare_status(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Labels stay as they are, too."""
        Strategy.prepare_status(self, document, old, now)
        restore(document["metadata"], old["metadata"], "labels")


@dataclass(frozen=True, slots=True)
class DaemonSetStrategy(Strategy):
    """Daemon sets, with the generation of their template in an annotation, as apps/v1 shows it."""

    has_status: bool = True
    counts_generations: bool = True

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """The template begins at generation 1, or at what was sent."""
        Strategy.prepare_create(self, document, now)
        given = _annotations(document).get(_TEMPLATE_GENERATION, "")
        _set_template_generation(document, max(_number(given), 1))

    def prepare_update(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """It counts the changes of the template, and cannot be set."""
        Strategy.prepare_update(self, document, old, now)
        generation = _number(_annotations(old).get(_TEMPLATE_GENERATION, ""))
        before, after = old.get("spec") or {}, document.get("spec") or {}
        if before.get("template") != after.get("template"):
            generation += 1
        _set_template_generation(document, generation)


@dataclass(frozen=True, slots=True)
class EndpointSliceStrategy(Strategy):
    """Endpoint slices have no status: everything but metadata counts, and labels do."""

    counts_generations: bool = True

    def spec_changed(self, document: JSONObject, old: JSONObject) -> bool:
        """Labels tell which service the endpoints are of."""
        return Strategy.spec_changed(self, document, old) or _differ(document, old, "labels")


def _differ(document: JSONObject, old: JSONObject, key: str) -> bool:
    return (document["metadata"].get(key) or {}) != (old["metadata"].get(key) or {})


def _annotations(document: JSONObject) -> JSONObject:
    annotations: JSONObject = document["metadata"].get("annotations") or {}
    return annotations


def _set_template_generation(document: JSONObject, generation: int) -> None:
    annotations = {**_annotations(document), _TEMPLATE_GENERATION: str(generation)}
    document["metadata"]["annotations"] = annotations


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
