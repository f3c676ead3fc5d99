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
    Key("/", "filter", "/", "Filter the table, or search"),
    Key("j", "down", "j", "Next row"),
    Key("k", "up", "k", "Row before"),
    Key("Enter", "open", "Enter", "Open the row"),
    Key("Space", "pause", "Space", "Pause or resume what is live on the page"),
    *(Key(f"g {each.key}", f"go:{each.name}", f"g {each.key}", each.says) for each in ENTRIES),
    Key("y", "yaml", "y", "YAML of the object"),
    Key("d", "diff", "d", "History of the object, with differences"),
    Key("e", "edit", "e", "Edit the object"),
    Key("n", "create", "n", "Create from YAML"),
    Key("c", "copy", "c", "Copy as kubectl, curl, client-go or Python"),
    Key("Escape", "back", "Esc", "Back to where this page belongs"),
    Key("?", "help", "?", "Show these keys"),
)
