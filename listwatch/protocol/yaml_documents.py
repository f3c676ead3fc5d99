"""YAML as Kubernetes reads and writes it: JSON's values, YAML 1.1's words, Go's layout.

Reading differs from PyYAML's safe loader in that a date stays text, `1e3` is a number and keys
become strings; it bounds what aliases may grow to. Writing sorts keys, never folds lines, keeps
text of several lines as a block, and quotes with double quotes, so that `kubectl` and people see
what they are used to. For the bodies of `api` and the forms of `admin`.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # Any: one of two classes
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # Any: one of two classes
MAXIMUM_NODES = 1_000_000  # of one document, aliases counted as often as they are used


class _DocumentLoader(_Loader):  # type: ignore[misc]
    """The safe loader, with JSON's idea of what a scalar is."""


class _DocumentDumper(_Dumper):  # type: ignore[misc]
    """The safe dumper, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # Any: whatever is written
        """Every value is written out: JSON has no references."""
        return True


# A timestamp is text in JSON; words and numbers are Go's.
_DocumentLoader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":float"))
    ]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}
_DocumentLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^(?:[-+]?(?:\.[0-9_]+|[0-9][0-9_]*\.[0-9_]*)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)
_DocumentLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:y|Y|n|N)$"), list("yYnN")
)
_DocumentLoader.bool_values = {**_Loader.bool_values, "y": True, "n": False}


def load(body: bytes) -> tuple[Any, tuple[str, ...]]:  # Any: a JSON value
    """The first document and the paths of keys that stand twice; raises ValueError."""
    value, reader = _load(body)
    return value, tuple(reader.duplicates)


def load_by_line(body: bytes) -> tuple[Any, tuple[str, ...]]:  # Any: a JSON value
    """The same, with a sentence of each such key and the line that it stands in."""
    value, reader = _load(body)
    return value, tuple(reader.repeated)


def compose(text: str) -> yaml.Node | None:
    """The nodes of the first document, with their lines and types; raises ValueError."""
    loader = _DocumentLoader(text)
    try:
        node: yaml.Node | None = loader.get_single_node()
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    finally:
        loader.dispose()
    return node


def _load(body: bytes) -> tuple[Any, _Reader]:
    loader = _DocumentLoader(body)
    try:
        node = loader.get_single_node()
        reader = _Reader(loader)
        value = reader.value(node, "") if node is not None else None
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("exceeded max depth") from None
    finally:
        loader.dispose()
    return value, reader


class _Reader:
    """Makes JSON values of nodes, counting what aliases repeat."""

    def __init__(self, loader: Any) -> None:  # Any: PyYAML's loader
        self._loader = loader
        self._left = MAXIMUM_NODES
        self.duplicates: list[str] = []
        self.repeated: list[str] = []

    def value(self, node: yaml.Node, path: str) -> Any:  # Any: a JSON value
        self._left -= 1
        if self._left < 0:
            raise ValueError("document contains excessive aliasing")
        if isinstance(node, yaml.MappingNode):
            self._loader.flatten_mapping(node)
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, f"{path}[{i}]") for i, each in enumerate(node.value)]
        value = self._loader.construct_object(node)
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"json: unsupported value: {node.value}")
        if value is None or isinstance(value, str | bool | int | float):
            return value
        raise ValueError(f"{node.tag} is no JSON value")

    def _mapping(self, node: yaml.MappingNode, path: str) -> dict[str, Any]:  # Any: JSON values
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise ValueError("a key must be a scalar")
            key = _key(self.value(key_node, path))
            here = f"{path}.{key}" if path else key
            if key in mapping:
                self.duplicates.append(here)
                line = key_node.start_mark.line + 1
                self.repeated.append(f'line {line}: key "{key}" already set in map')
            mapping[key] = self.value(value_node, here)
        return mapping


def _key(value: Any) -> str:  # Any: a scalar
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def _represent_text(dumper: Any, text: str) -> yaml.Node:  # Any: PyYAML's dumper
    style = None
    if "\n" in text:
        style = "|"
    elif any(one.resolve(yaml.ScalarNode, text, (True, False)) != _TEXT for one in _RESOLVERS):
        style = '"'
    node: yaml.Node = dumper.represent_scalar(_TEXT, text, style=style)
    return node


_TEXT = "tag:yaml.org,2002:str"
# Asked whether plain text would be read as something else, here or by a reader that knows dates.
_RESOLVERS = (_DocumentLoader(""), _Loader(""))
_DocumentDumper.add_representer(str, _represent_text)


def dump(value: Any) -> bytes:  # Any: a JSON value
    """A document, keys sorted."""
    text: bytes = yaml.dump(
        value,
        Dumper=_DocumentDumper,
        default_flow_style=False,
        allow_unicode=True,
        sort_keys=True,
        width=1 << 30,
        encoding="utf-8",
    )
    return text


def dump_items(values: Iterable[Any]) -> bytes:  # Any: JSON values
    """Elements as they stand in a list within a document; to be joined without separators."""
    return dump(list(values))
