"""Label selectors: `app=web,tier in (a, b),!canary`, and the selector objects of workloads.

The grammar and every message are kube-apiserver's. Label selectors go into `selectors.Selector`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from listwatch.protocol.errors import bad_request
from listwatch.protocol.label_requirements import Labels, Operator, Requirement, requirement
from listwatch.protocol.label_selectors_parsing import read_requirements
from listwatch.protocol.names import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.objects import JSONObject


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Requirements that must all hold: sorted and distinct, so equal selectors have equal texts."""

    requirements: tuple[Requirement, ...] = ()
    _tests: tuple[Callable[[Labels], bool], ...] = field(
        init=False, repr=False, compare=False, default=()
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "requirements", tuple(sorted(set(self.requirements))))
        object.__setattr__(self, "_tests", tuple(r.test() for r in self.requirements))

    @staticmethod
    def parse(text: str) -> LabelSelector:
        """Read the text of a `labelSelector` parameter; raises StatusError 400."""
        return _parse(text)

    @staticmethod
    def of(selector: JSONObject | None) -> LabelSelector | None:
        """The selector object of a workload (matchLabels, matchExpressions).

        An empty object selects everything, none at all selects nothing: None. Raises StatusError
        400 for what validation should have refused.
        """
        if selector is None:
            return None
        pairs = (selector.get("matchLabels") or {}).items()
        found = [requirement(key, Operator.EQUALS, [value]) for key, value in pairs]
        for item in selector.get("matchExpressions") or ():
            operator = _WORDS.get(item.get("operator", ""))
            if operator is None:
                word = quoted(str(item.get("operator", "")))
                raise bad_request(f"{word} is not a valid label selector operator")
            found.append(requirement(item["key"], operator, item.get("values") or ()))
        return LabelSelector(tuple(found))

    @staticmethod
    def of_set(labels: Labels | None) -> LabelSelector:
        """The selector that wants exactly these labels, as a service's `spec.selector` does."""
        pairs = (labels or {}).items()
        return LabelSelector(tuple(Requirement(k, Operator.EQUALS, (v,)) for k, v in pairs))

    def matches(self, labels: Labels) -> bool:
        """Whether labels satisfy every requirement."""
        for test in self._tests:  # noqa: SIM110 -- half the cost of all() for the usual one test
            if not test(labels):
                return False
        return True

    @property
    def empty(self) -> bool:
        """Whether it selects everything."""
        return not self.requirements

    def requires(self, key: str) -> str | None:
        """The one value that a label must have, if it asks for one."""
        for found, operator, values in self.requirements:
            if found == key and operator in _POSITIVE and len(values) == 1:
                return values[0]
        return None

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


_POSITIVE = frozenset({Operator.EQUALS, Operator.IN})
_WORDS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}


EVERYTHING = LabelSelector()


@lru_cache(maxsize=2048)
def _parse(text: str) -> LabelSelector:
    return LabelSelector(tuple(read_requirements(text)))
