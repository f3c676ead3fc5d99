"""A configuration merged into the live object: what it names is as it says, the rest stays.

The order of lists is that of the configuration as far as it names elements, the others keep their
places. The result goes to `removing`, which takes out what is named no more.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from listwatch.patches.field_sets.elements import element
from listwatch.patches.field_sets.reading import is_associative, is_object

if TYPE_CHECKING:
    from listwatch.patches.field_sets.field_type import FieldType


def merge(ftype: FieldType | None, live: Any, config: Any) -> Any:  # Any: JSON values
    """The merged value; parts of both arguments stand in it. Raises UnkeyedError."""
    if ftype is None:
        return config
    if isinstance(live, dict) and live and is_object(ftype, live):
        if config is None:
            return live  # null says nothing of an object whose fields are owned one by one
        return _maps(ftype, live, config) if isinstance(config, dict) else config
    if is_associative(ftype):
        if not live or not isinstance(live, list):
            return config
        return _lists(ftype, live, config) if config else live
    return config


def _maps(ftype: FieldType, live: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    merged = dict(live)
    for name, inner in config.items():
        merged[name] = merge(ftype.field(name), live[name], inner) if name in live else inner
    return merged


def _lists(ftype: FieldType, live: list[Any], config: list[Any]) -> list[Any]:
    # Upstream: typed/merge.go. Both lists are walked side by side; an element that both have is
    # taken where the configuration has it, unless the live order agrees.
    left = [(element(ftype, item), item) for item in live]
    right = {element(ftype, item): item for item in config}
    counts = Counter(key for key, _ in left)
    single = {key: item for key, item in left if counts[key] == 1}
    names = list(right)
    shared = [key for key in names if key in counts]
    merged: list[Any] = []
    done: set[str] = set()
    at_left = at_right = 0

    def take(key: str) -> None:
        done.add(key)
        if shared and shared[0] == key:
            shared.pop(0)
        theirs = right[key]
        # What stands there several times is replaced: nobody can say which of them is meant.
        merged.append(merge(ftype.items, single[key], theirs) if key in single else theirs)

    while at_left < len(left) or at_right < len(names):
        if at_left < len(left):
            key, item = left[at_left]
            if at_right < len(names):
                if key == names[at_right]:
                    take(key)
                    at_left += 1
                    at_right += 1
                    continue
                if key in right and shared and shared[0] != key:
                    at_left += 1  # it has its place among the configuration's
                    continue
            if key not in right:
                merged.append(item)
                at_left += 1
                continue
            if key in done:
                at_left += 1
        if at_right < len(names):
            take(names[at_right])
            at_right += 1
    return merged
