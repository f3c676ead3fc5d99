"""The one table of keys: the help dialog shows it, and the browser reads it from there."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.navigation import ENTRIES


class Key(NamedTuple):
    """A key (or `g` and a key), what it does, and how the help shows and says it."""

    key: str
    does: str
    shown: str
    says: str


KEYS = (
    Key("/", "filter", "/", "Filter the table"),
    Key("Space", "pause", "Space", "Pause or resume what is live on the page"),
    *(Key(f"g {each.key}", f"go:{each.name}", f"g {each.key}", each.says) for each in ENTRIES),
    Key("?", "help", "?", "Show these keys"),
)
