"""The one table of keys: the help dialog shows it, and the browser reads it from there."""

from __future__ import annotations

from typing import NamedTuple


class Key(NamedTuple):
    """A key (or `g` and a key), what it does, and how the help shows and says it."""

    key: str
    does: str
    shown: str
    says: str


KEYS = (
    Key("/", "filter", "/", "Filter the table"),
    Key("Space", "pause", "Space", "Pause or resume what is live on the page"),
    Key("g o", "go:overview", "g o", "Go to the overview"),
    Key("g f", "go:flow", "g f", "Go to the event flow"),
    Key("g w", "go:watchers", "g w", "Go to the watchers"),
    Key("g a", "go:attach", "g a", "Attach a watcher"),
    Key("?", "help", "?", "Show these keys"),
)
