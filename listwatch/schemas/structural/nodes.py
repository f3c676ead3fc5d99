"""A structural schema as a tree: one node for each place in an object.

Made once of the schema in a definition; walked by `pruning`, `defaulting`, `validating`,
`list_types`, `embedded` and `rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

MISSING: Any = object()  # Any: stands for no value of whatever type

Schema = Mapping[str, Any]  # Any: an OpenAPI schema


class Node:
    """One place: what stands there, and the nodes of what stands within.

    A junctor's schemas (`allOf` and the like) are nodes, too: they only ever check values.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.type: str = schema.get("type") or ""
        self.nullable: bool = bool(schema.get("nullable"))
        self.default: Any = schema.get("default", MISSING)
        self.has_default: bool = self.default is not MISSING
        self.preserves: bool = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        self.embedded: bool = bool(schema.get("x-kubernetes-embedded-resource"))
        self.int_or_string: bool = bool(schema.get("x-kubernetes-int-or-string"))
        self.list_type: str = schema.get("x-kubernetes-list-type") or ""
        self.list_keys: tuple[str, ...] = tuple(schema.get("x-kubernetes-list-map-keys") or ())
        self.rules: tuple[Schema, ...] = tuple(schema.get("x-kubernetes-validations") or ())

    @cached_property
    def properties(self) -> dict[str, Node]:
        """The declared fields of an object."""
        return {name: Node(inner) for name, inner in (self.schema.get("properties") or {}).items()}

    @cached_property
    def additional(self) -> Node | None:
        """The values of a map; None if there are none, or if anything may stand there."""
        inner = self.schema.get("additionalProperties")
        return Node(inner) if isinstance(inner, Mapping) else None

    @property
    def takes_more(self) -> bool:
        """Whether keys may stand here that are not declared, but are data."""
        return bool(self.schema.get("additionalProperties")) or self.additional is not None

    @cached_property
    def items(self) -> Node | None:
        """The elements of a list."""
        inner = self.schema.get("items")
        return Node(inner) if isinstance(inner, Mapping) else None

    @cached_property
    def junctors(self) -> dict[str, tuple[Node, ...]]:
        """The schemas of `allOf`, `anyOf`, `oneOf` and `not`."""
        found = {
            word: tuple(Node(inner) for inner in self.schema.get(word) or ())
            for word in ("allOf", "anyOf", "oneOf")
        }
        found["not"] = (Node(self.schema["not"]),) if self.schema.get("not") else ()
        return {word: nodes for word, nodes in found.items() if nodes}

    def child(self, key: str) -> Node | None:
        """The node of a field, declared or not."""
        return self.properties.get(key) or self.additional

    def any(self, what: str) -> bool:
        """Whether this or any place within has that attribute set."""
        if getattr(self, what):
            return True
        inner = [*self.properties.values(), self.additional, self.items]
        return any(node is not None and node.any(what) for node in inner)

    def drops_null(self) -> bool:
        """Whether a null here means nothing."""
        return not self.nullable and self.default is MISSING

    def replaces_null(self) -> bool:
        """Whether a null here is replaced by the default."""
        return not self.nullable and self.default is not MISSING
