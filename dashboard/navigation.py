"""The pages that stand in the bar, in its order: one line each.

To add a page: a view made by `pages.page`, its address in `urls`, an entry here, its module in
static/dashboard/main.js if it is live, and a line in docs/dashboard.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from listwatch.runtime import Runtime


def always(runtime: Runtime | None) -> bool:
    """A page that every server has."""
    return True


def with_faults(runtime: Runtime | None) -> bool:
    """A page of servers that let faults be put in."""
    return runtime is not None and runtime.faults is not None


class Entry(NamedTuple):
    """One page of the bar: `name` is that of its address, `key` the letter after `g`."""

    name: str
    title: str
    key: str
    says: str
    shown: Callable[[Runtime | None], bool] = always


ENTRIES = (
    Entry("overview", "Overview", "h", "Go to the overview"),
    Entry("objects", "Objects", "o", "Go to the objects"),
    Entry("flow", "Event flow", "f", "Go to the event flow"),
    Entry("watchers", "Watchers", "w", "Go to the watchers"),
    Entry("rings", "Rings", "r", "Go to the rings"),
    Entry("attach", "Attach", "a", "Attach a watcher"),
    Entry("informers", "Informers", "i", "Attach an informer"),
    Entry("learn", "Learn", "l", "Go to the lessons"),
    Entry("faults", "Faults", "x", "Go to the faults", with_faults),
)
