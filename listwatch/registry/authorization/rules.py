"""The rules of a role as values, and what they allow. Pure functions; `index` keeps the results.

The wildcards are upstream's (pkg/apis/rbac/v1/evaluation_helpers.go): `*` for any verb, group,
resource with any subresource, and URL; `*/scale` for that subresource of anything; a URL that ends
in `*` for all that begin so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.authorization.attributes import Attributes

ANY = "*"


class Rule(NamedTuple):
    """One rule, as a role writes it; each tuple keeps the role's order."""

    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    @classmethod
    def of(cls, rule: JSONObject) -> Rule:
        """The rule of a JSON object; what is missing is empty."""
        return cls(
            tuple(rule.get("verbs") or ()),
            tuple(rule.get("apiGroups") or ()),
            tuple(rule.get("resources") or ()),
            tuple(rule.get("resourceNames") or ()),
            tuple(rule.get("nonResourceURLs") or ()),
        )

    def to_dict(self) -> JSONObject:
        """The rule as a role writes it."""
        parts: JSONObject = {
            "verbs": list(self.verbs),
            "apiGroups": list(self.groups),
            "resources": list(self.resources),
            "resourceNames": list(self.names),
            "nonResourceURLs": list(self.urls),
        }
        return {key: value for key, value in parts.items() if value or key == "verbs"}

    def __str__(self) -> str:
        parts = (
            ("APIGroups", self.groups), ("Resources", self.resources),
            ("NonResourceURLs", self.urls), ("ResourceNames", self.names), ("Verbs", self.verbs),
        )  # fmt: skip
        shown = (f"{name}:{go_strings(values)}" for name, values in parts if values)
        return "{" + ", ".join(shown) + "}"


def rules_of(role: JSONObject) -> tuple[Rule, ...]:
    """The rules that a role holds."""
    return tuple(Rule.of(rule) for rule in role.get("rules") or ())


def go_strings(values: Iterable[str]) -> str:
    """Texts as Go's %q writes a slice: `["a" "b"]`."""
    quoted = ('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values)
    return "[" + " ".join(quoted) + "]"


class _Compiled(NamedTuple):
    verbs: frozenset[str]
    groups: frozenset[str]
    names: frozenset[str]


class RuleSet:
    """The rules of one role, arranged by resource so that a question looks at few of them."""

    __slots__ = ("_by_resource", "_urls", "rules")

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._by_resource: dict[str, list[_Compiled]] = {}
        self._urls: list[tuple[frozenset[str], tuple[str, ...]]] = []
        for rule in rules:
            verbs = frozenset(rule.verbs)
            if rule.urls:
                self._urls.append((verbs, rule.urls))
            compiled = _Compiled(verbs, frozenset(rule.groups), frozenset(rule.names))
            for resource in rule.resources:
                self._by_resource.setdefault(resource, []).append(compiled)

    def allows(self, wanted: Attributes) -> bool:
        """Whether one of the rules allows this, wherever the role is bound."""
        verb, resource = wanted.verb, wanted.resource
        if not resource:
            return any(
                (verb in verbs or ANY in verbs) and url_matches(urls, wanted.path)
                for verbs, urls in self._urls
            )
        by_resource = self._by_resource
        if wanted.subresource:
            names: tuple[str, ...] = (
                f"{resource}/{wanted.subresource}", ANY, f"*/{wanted.subresource}",
            )  # fmt: skip
        else:
            names = (resource, ANY)
        for name in names:
            for rule in by_resource.get(name, ()):
                if (
                    (verb in rule.verbs or ANY in rule.verbs)
                    and (wanted.group in rule.groups or ANY in rule.groups)
                    and (not rule.names or wanted.name in rule.names)
                ):
                    return True
        return False


def url_matches(urls: Iterable[str], path: str) -> bool:
    """Whether one of the URLs is this path, or begins it and ends in `*`."""
    return any(
        url == path or (url.endswith(ANY) and path.startswith(url.rstrip(ANY))) for url in urls
    )


def uncovered(held: Sequence[Rule], asked: Iterable[Rule]) -> list[Rule]:
    """What of the asked rules nobody can do who holds the others: upstream's `Covers`.

    Joined again where only the verbs differ, in the order of their texts.
    """
    missing = [part for rule in asked for part in _parts(rule) if not _covered(held, part)]
    joined: dict[Rule, list[str]] = {}
    for part in missing:
        verbs = joined.setdefault(part._replace(verbs=()), [])
        verbs += [verb for verb in part.verbs if verb not in verbs]
    rules = [rule._replace(verbs=tuple(verbs)) for rule, verbs in joined.items()]
    return sorted(rules, key=str)


def _parts(rule: Rule) -> Iterable[Rule]:
    for verb in rule.verbs:
        for group in rule.groups:
            for resource in rule.resources:
                for name in rule.names or ("",):
                    yield Rule((verb,), (group,), (resource,), (name,) if name else ())
        for url in rule.urls:
            yield Rule((verb,), urls=(url,))


def _covered(held: Sequence[Rule], part: Rule) -> bool:
    verb = part.verbs[0]
    for rule in held:
        if verb not in rule.verbs and ANY not in rule.verbs:
            continue
        if part.urls:
            if url_matches(rule.urls, part.urls[0]):
                return True
            continue
        group, resource = part.groups[0], part.resources[0]
        if group not in rule.groups and ANY not in rule.groups:
            continue
        if rule.names and not set(part.names) <= set(rule.names):
            continue
        if rule.names and not part.names:
            continue
        if resource in rule.resources or ANY in rule.resources:
            return True
        _, slash, subresource = resource.partition("/")
        if slash and f"*/{subresource}" in rule.resources:
            return True
    return False
