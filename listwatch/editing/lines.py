"""The line of an object's text that a fault speaks of.

A fault names a field, at times only the map or the list in which something is wrong: then the
value of the wrong type is looked for in it. Used by `texts` and `faults`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from listwatch.protocol import yaml_documents

_STEP = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")
_TYPES = {  # Go's words for what stands in JSON
    "tag:yaml.org,2002:int": "number",
    "tag:yaml.org,2002:float": "number",
    "tag:yaml.org,2002:bool": "bool",
    "tag:yaml.org,2002:null": "null",
}
_WHOLE = ("[", "map[")  # types whose elements are named apart: the value itself is to blame

Place = tuple[yaml.Node, yaml.Node]  # where it stands, and the value


def line_of(text: str, field: str) -> int:
    """The line of the field that a fault names, or of the nearest part around it; 0 for none."""
    found = _places(text, field)
    return _line(found[0]) if found else 0


def line_of_type(text: str, field: str, given: str, wanted: str) -> int:
    """The line in which a value of the type `given` stands, at the field or in what it holds."""
    found = _places(text, field)
    themselves = [place for place in found if _type(place[1]) == given]
    within = [
        each for _, node in found for each in _elements(node) if _type(each[1]) == given
    ]  # fmt: skip
    order = [*themselves, *within] if wanted.startswith(_WHOLE) else [*within, *themselves]
    return _line([*order, *found][0]) if found else 0


def _line(place: Place) -> int:
    return place[0].start_mark.line + 1


def _places(text: str, field: str) -> list[Place]:
    """Where a field stands: more than once if it is that of list elements without an index."""
    try:
        node = yaml_documents.compose(text)
    except (ValueError, RecursionError):
        return []
    found: list[Place] = []
    nodes = [node] if node is not None else []
    for name, bracketed in _STEP.findall(field):
        deeper = [
            each for at in nodes for each in _steps(at, name or bracketed.strip("\"'"))
        ]  # fmt: skip
        if not deeper:
            break
        found, nodes = deeper, [value for _, value in deeper]
    return found


def _steps(node: yaml.Node, name: str) -> list[Place]:
    if isinstance(node, yaml.MappingNode):
        # Of a key that stands twice, the last counts.
        return [place for place in _elements(node) if place[0].value == name][-1:]
    if isinstance(node, yaml.SequenceNode):
        if name.isdigit():
            return list(_elements(node))[int(name) : int(name) + 1]
        return [found for each in node.value for found in _steps(each, name)]
    return []


def _elements(node: yaml.Node) -> Iterator[Place]:
    if isinstance(node, yaml.MappingNode):
        yield from node.value
    elif isinstance(node, yaml.SequenceNode):
        yield from ((each, each) for each in node.value)


def _type(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "object"
    if isinstance(node, yaml.SequenceNode):
        return "array"
    return _TYPES.get(node.tag, "string")
