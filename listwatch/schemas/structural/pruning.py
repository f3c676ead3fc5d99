"""Fields that a schema does not know are taken off an object, but where it keeps them.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/pruning. The caller is `kinds`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from listwatch.schemas.structural.nodes import Node

_META = frozenset(("apiVersion", "kind", "metadata"))


def prune(document: dict[str, Any], root: Node) -> list[str]:  # Any: JSON
    """Take off what is unknown, in place; the paths of it, sorted."""
    unknown: list[str] = []
    if root.preserves:
        _keep(document, root, "", unknown, resource=True)
    else:
        _object(document, root, "", unknown, resource=True)
    return sorted(unknown)


def _value(value: Any, node: Node | None, path: str, unknown: list[str]) -> None:
    if node is not None and node.preserves:
        _keep(value, node, path, unknown, resource=node.embedded)
    elif isinstance(value, dict):
        _object(value, node, path, unknown, resource=node is not None and node.embedded)
    elif isinstance(value, list):
        items = None if node is None else node.items
        for index, inner in enumerate(value):
            _value(inner, items, f"{path}[{index}]", unknown)


def _object(
    value: dict[str, Any], node: Node | None, path: str, unknown: list[str], *, resource: bool
) -> None:
    dropped = []
    for key, inner in value.items():
        if resource and key in _META:
            continue
        declared = None if node is None else node.properties.get(key)
        if declared is not None:
            _value(inner, declared, _join(path, key), unknown)
        elif node is not None and node.takes_more:
            _value(inner, node.additional, _join(path, key), unknown)
        else:
            unknown.append(_join(path, key))
            dropped.append(key)
    for key in dropped:
        del value[key]


def _keep(value: Any, node: Node, path: str, unknown: list[str], *, resource: bool) -> None:
    # What is declared is pruned all the same.
    if isinstance(value, dict):
        for key, inner in value.items():
            if resource and key in _META:
                continue
            declared = node.properties.get(key)
            if declared is not None:
                _value(inner, declared, _join(path, key), unknown)
            elif node.additional is not None:
                _value(inner, node.additional, _join(path, key), unknown)
    elif isinstance(value, list) and node.items is not None:
        for index, inner in enumerate(value):
            _value(inner, node.items, f"{path}[{index}]", unknown)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
