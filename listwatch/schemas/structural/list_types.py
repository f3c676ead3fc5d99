"""Lists that are sets or are keyed by fields: nothing may stand in them twice.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/listtype. The caller is `kinds`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from listwatch.schemas.structural.nodes import MISSING
from listwatch.schemas.structural.numbers import same
from listwatch.schemas.validation.faults import duplicate

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.schemas.structural.nodes import Node


def duplicates(value: Any, node: Node | None, old: Any = MISSING, path: str = "") -> list[Cause]:
    """A fault for each element that was there before it (Any: JSON); none where nothing changed."""
    if node is None or (old is not MISSING and same(value, old)):
        return []
    found: list[Cause] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            before = old.get(key, MISSING) if isinstance(old, dict) else MISSING
            field = f"{path}.{key}" if path else key
            found += duplicates(inner, node.child(key), before, field)
    elif isinstance(value, list):
        if node.list_type in ("set", "map"):
            found += _repeated(value, node, path)
        for index, inner in enumerate(value):
            if isinstance(inner, dict | list):
                found += duplicates(inner, node.items, MISSING, f"{path}[{index}]")
    return found


def _repeated(value: list[Any], node: Node, path: str) -> list[Cause]:
    seen: set[bytes] = set()
    found = []
    for index, element in enumerate(value):
        shown = element
        if node.list_type == "map":
            if not isinstance(element, dict):
                continue
            shown = {key: element[key] for key in sorted(node.list_keys) if key in element}
        name = orjson.dumps(shown, option=orjson.OPT_SORT_KEYS)
        if name in seen:
            found.append(duplicate(f"{path}[{index}]", shown))
        seen.add(name)
    return found
