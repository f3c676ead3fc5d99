"""Cluster roles that are made of others: whichever carry the labels that they ask for.

Upstream's controller writes the rules into the role; here they hold from the moment on that the
parts are there, whether or not a controller runs. Used by `index`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from listwatch.registry.authorization.rules import Rule, RuleSet

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

Selectors = tuple["JSONObject", ...]


class Aggregation:
    """Which cluster roles are aggregated, and of what."""

    def __init__(self) -> None:
        self._labels: dict[str, Mapping[str, str]] = {}
        self._selectors: dict[str, Selectors] = {}
        self._made: dict[str, RuleSet] = {}

    def put(self, name: str, labels: Mapping[str, str] | None, selectors: Selectors | None) -> None:
        """Take a cluster role as it is now; without labels it is gone, without selectors plain."""
        self._made.clear()
        if labels is None:
            self._labels.pop(name, None)
        else:
            self._labels[name] = labels
        if selectors is None:
            self._selectors.pop(name, None)
        else:
            self._selectors[name] = selectors

    def aggregates(self, name: str) -> bool:
        """Whether its rules are those of others."""
        return name in self._selectors

    def names(self) -> tuple[str, ...]:
        """All that are aggregated."""
        return tuple(self._selectors)

    def rules(self, name: str, own: Callable[[str], RuleSet]) -> RuleSet:
        """The rules of an aggregated role; `own` tells those that a plain one holds."""
        made = self._made.get(name)
        if made is None:
            found: dict[Rule, None] = {}
            self._gather(name, own, found, set())
            made = self._made[name] = RuleSet(tuple(found))
        return made

    def _gather(
        self, name: str, own: Callable[[str], RuleSet], found: dict[Rule, None], seen: set[str]
    ) -> None:
        if name in seen:
            return  # it contains itself, and adds nothing by that
        seen.add(name)
        selectors = self._selectors.get(name)
        if selectors is None:
            found.update(dict.fromkeys(own(name).rules))
            return
        for other in sorted(self._labels):
            if other != name and any(label_matches(s, self._labels[other]) for s in selectors):
                self._gather(other, own, found, seen)


def selectors_of(role: JSONObject) -> Selectors | None:
    """The selectors of an aggregated role; None if it is a plain one."""
    rule = role.get("aggregationRule")
    return None if rule is None else tuple(rule.get("clusterRoleSelectors") or ())


def label_matches(selector: JSONObject, labels: Mapping[str, str]) -> bool:
    """Whether a label selector object matches; an empty one matches everything."""
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_holds(term, labels) for term in selector.get("matchExpressions") or ())


def _holds(term: JSONObject, labels: Mapping[str, str]) -> bool:
    key, values = term.get("key", ""), term.get("values") or ()
    match term.get("operator"):
        case "In":
            return key in labels and _among(labels[key], values)
        case "NotIn":
            return key not in labels or not _among(labels[key], values)
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False


def _among(value: str, values: Iterable[str]) -> bool:
    return value in set(values)
