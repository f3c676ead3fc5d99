"""`--controllers=*,-cronjob`: which controllers run, by kube-controller-manager's rules.

Read by `manager` when it makes the controllers.
"""

from __future__ import annotations

from collections.abc import Iterable


def selected(text: str, known: Iterable[str]) -> list[str]:
    """The names that run, in the order in which they are known; raises ValueError for others.

    The first word about a name decides; `*` is said of those that have no word of their own.
    """
    names = list(known)
    words = [word.strip() for word in text.split(",") if word.strip()]
    bare = [word.removeprefix("-") for word in words if word != "*"]
    unknown = sorted(set(bare) - set(names))
    if unknown:
        raise ValueError(
            f"no such controller: {', '.join(unknown)}; there are {', '.join(sorted(names))}"
        )
    return [name for name in names if _runs(name, words)]


def _runs(name: str, words: list[str]) -> bool:
    for word in words:
        if word == name:
            return True
        if word == f"-{name}":
            return False
    return "*" in words
