"""A custom kind in one version, made of its definition: reads, completes, checks and shows objects.

The one implementation of `protocol.custom_kinds`. Made by `registry.custom_resources`, which hangs
it on the Resource that is served.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import OrderedDict
from collections.abc import Mapping, MutableMapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from listwatch.protocol.custom_kinds import ScalePaths
from listwatch.schemas.cells.custom import AGE, cells_of, columns_of
from listwatch.schemas.cells.json_paths import check as path_fault
from listwatch.schemas.structural import defaulting, json_schema
from listwatch.schemas.structural.embedded import embedded_faults, read_embedded, read_metadata
from listwatch.schemas.structural.list_types import duplicates
from listwatch.schemas.structural.nodes import MISSING, Node
from listwatch.schemas.structural.pruning import prune
from listwatch.schemas.structural.rules import rule_faults
from listwatch.schemas.structural.scaling import scale_faults, split
from listwatch.schemas.structural.validating import faults

if TYPE_CHECKING:
    import jsonschema_rs

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.kinds import Column
    from listwatch.protocol.objects import JSONObject

_ROOT = ("apiVersion", "kind", "metadata")


class StructuralKind:
    """One version of a definition. Equal to another that says the same."""

    def __init__(
        self,
        version: Mapping[str, Any],  # Any: one of the definition's `spec.versions`
        *,
        stored: Mapping[str, Any],  # Any: the one of them that new objects are kept in
        conversion: JSONObject,
        list_kind: str,
        selectable: tuple[str, ...] = (),
        deprecation: str = "",
    ) -> None:
        self.version: str = version["name"]
        self.stored_version: str = stored["name"]
        self.selectable = selectable
        fields = stored.get("selectableFields") or ()
        self.stored_selectable = tuple(f["jsonPath"].removeprefix(".") for f in fields)
        self.conversion = conversion
        self.list_kind = list_kind
        self.terminating = False
        self.converted: MutableMapping[bytes, JSONObject] = OrderedDict()
        self._stored = stored
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        self.schema: Mapping[str, Any] = schema or {"x-kubernetes-preserve-unknown-fields": True}
        self.subresources: Mapping[str, Any] = version.get("subresources") or {}
        printers = version.get("additionalPrinterColumns") or (AGE,)
        # Any text with a dot in front is taken as a path; columns end before one that is none.
        self.printers: Sequence[Mapping[str, Any]] = tuple(
            itertools.takewhile(lambda one: not path_fault(one.get("jsonPath") or ""), printers)
        )
        text = orjson.dumps([version, stored, conversion, list_kind, selectable])
        self._digest = hashlib.sha256(text).digest()
        self.warning = ""
        if version.get("deprecated"):
            self.warning = version.get("deprecationWarning") or deprecation
        self._root = Node(self.schema)
        self._stored_root = self._root
        if stored["name"] != self.version:
            self._stored_root = Node((stored.get("schema") or {}).get("openAPIV3Schema") or {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StructuralKind) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    @property
    def has_status(self) -> bool:
        """Whether the status has an address of its own."""
        return self.subresources.get("status") is not None

    @property
    def scale(self) -> ScalePaths | None:
        """Where the scale subresource looks."""
        scale = self.subresources.get("scale")
        if scale is None:
            return None
        return ScalePaths(
            split(scale["specReplicasPath"]),
            split(scale["statusReplicasPath"]),
            split(scale.get("labelSelectorPath") or ""),
        )

    @cached_property
    def rules(self) -> StructuralKind:
        """The kind by which objects are completed and checked before they are kept.

        A webhook may make anything of an object, so that it is checked as what it has become.
        """
        if self.version == self.stored_version or self.conversion.get("strategy") != "Webhook":
            return self
        return StructuralKind(
            self._stored, stored=self._stored, conversion=self.conversion,
            list_kind=self.list_kind, selectable=self.selectable,
        )  # fmt: skip

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of its Table."""
        return columns_of(self.printers)

    def cells(self, document: JSONObject, now: float) -> list[Any]:  # Any: JSON scalars
        """The cells of an object's row."""
        return cells_of(self.printers, document, now)

    def read(self, document: JSONObject) -> Sequence[str]:
        """Bring a sent object into normal form, in place: the paths of what it may not have."""
        unknown = read_metadata(document)
        if self._has_embedded:
            unknown += read_embedded(document, self._root)
        return [*unknown, *prune(document, self._root)]

    def apply_defaults(self, document: JSONObject) -> None:
        """Fill in what the object leaves out, in place; nulls that mean nothing go."""
        inner = _without_root(document)
        defaulting.drop_nulls(inner, self._root)
        defaulting.apply_defaults(inner, self._root)
        _put_back(document, inner)

    def complete(self, document: JSONObject) -> bool:
        """Bring an object into the form that is stored now; whether anything changed.

        It may have been stored under another schema, or in another version. One that a webhook
        has to convert stays as it is.
        """
        api_version: str = document["apiVersion"]
        group, _, version = api_version.partition("/")
        moved = version != self.stored_version
        if moved and self.conversion.get("strategy") == "Webhook":
            return False
        if moved:
            document["apiVersion"] = f"{group}/{self.stored_version}"
        if not self._has_defaults:
            return moved
        inner = _without_root(document)
        filled = defaulting.apply_defaults(inner, self._stored_root)
        if filled:
            _put_back(document, inner)
        return moved or filled

    def faults(self, document: JSONObject, old: JSONObject | None) -> list[Cause]:
        """What is wrong with an object; as a change of `old` only what that did not have."""
        before = MISSING if old is None else old
        found: list[Cause] = []
        if self._accepts is None or not self._accepts.is_valid(document):
            found += faults(self._root, document, before)
        if self._has_list_types:
            found += duplicates(document, self._root, before)
        if self._has_embedded:
            found += embedded_faults(document, self._root)
        scale = self.subresources.get("scale")
        if scale is not None:
            found += scale_faults(document, scale)
        # A rule may count on every value being of its type.
        if self._has_rules and not found:
            found += rule_faults(document, self._root, before)
        return found

    @cached_property
    def _accepts(self) -> jsonschema_rs.Draft4Validator | None:
        return json_schema.validator(self.schema)

    @cached_property
    def _has_defaults(self) -> bool:
        return self._stored_root.any("has_default")

    @cached_property
    def _has_embedded(self) -> bool:
        return self._root.any("embedded")

    @cached_property
    def _has_list_types(self) -> bool:
        return self._root.any("list_type")

    @cached_property
    def _has_rules(self) -> bool:
        return self._root.any("rules")


def _without_root(document: JSONObject) -> JSONObject:
    return {key: value for key, value in document.items() if key not in _ROOT}


def _put_back(document: JSONObject, inner: JSONObject) -> None:
    for key in [key for key in document if key not in _ROOT and key not in inner]:
        del document[key]
    document.update(inner)
