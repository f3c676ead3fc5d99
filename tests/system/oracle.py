"""What must be seen, worked out from nothing but the list of writes: slowly, and plainly.

Shares no code with what it judges, the selectors' verdicts included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Write:
    """One write: the object's labels after it, or None if it was deleted."""

    revision: int
    key: str
    labels: dict[str, str] | None


Passes = Callable[[str, dict[str, str]], bool]  # key and labels

SELECTORS: dict[str, tuple[str, str, Passes]] = {
    # name: label selector, field selector, and what they mean
    "everything": ("", "", lambda _key, _labels: True),
    "red": ("colour=red", "", lambda _key, labels: labels.get("colour") == "red"),
    "not red": ("colour!=red", "", lambda _key, labels: labels.get("colour") != "red"),
    "warm": (
        "colour in (red,yellow)", "",
        lambda _key, labels: labels.get("colour") in ("red", "yellow"),
    ),
    "plain": ("!colour", "", lambda _key, labels: "colour" not in labels),
    "red and big": (
        "colour=red,size=big", "",
        lambda _key, labels: labels.get("colour") == "red" and labels.get("size") == "big",
    ),
    "on no node": ("", "spec.nodeName=", lambda _key, labels: "node" not in labels),
    "on n1": ("", "spec.nodeName=n1", lambda _key, labels: labels.get("node") == "n1"),
    "named a": ("", "metadata.name=a", lambda key, _labels: key.endswith("/a")),
    "in blue": ("", "metadata.namespace=blue", lambda key, _labels: key.startswith("blue/")),
}  # fmt: skip

Seen = tuple[str, str, int]  # type, key, revision


@dataclass
class Oracle:
    """All writes since the beginning, in order."""

    writes: list[Write] = field(default_factory=list)

    def state_at(self, revision: int, passes: Passes) -> dict[str, int]:
        """Key to resourceVersion of the objects that pass, as they stood at a revision."""
        found: dict[str, int] = {}
        for write in self.writes:
            if write.revision > revision:
                break
            found.pop(write.key, None)
            if write.labels is not None and passes(write.key, write.labels):
                found[write.key] = write.revision
        return found

    def events(self, after: int, passes: Passes, until: int | None = None) -> list[Seen]:
        """What a watcher sees of the writes after a revision."""
        before: dict[str, dict[str, str]] = {}
        seen: list[Seen] = []
        for write in self.writes:
            if until is not None and write.revision > until:
                break
            old = before.pop(write.key, None)
            if write.labels is not None:
                before[write.key] = write.labels
            if write.revision <= after:
                continue
            was = old is not None and passes(write.key, old)
            is_ = write.labels is not None and passes(write.key, write.labels)
            if is_:
                seen.append(("MODIFIED" if was else "ADDED", write.key, write.revision))
            elif was:
                seen.append(("DELETED", write.key, write.revision))
        return seen

    def current(self) -> dict[str, Write]:
        """The newest write of each object that exists."""
        newest = {write.key: write for write in self.writes}
        return {key: write for key, write in newest.items() if write.labels is not None}
