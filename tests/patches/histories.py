"""What an object goes through, and who owns what of it then, as far as `patches` decides it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from listwatch.patches import managed_fields, server_side_apply
from listwatch.patches.field_sets.comparing import Comparison, compare
from listwatch.patches.managed_fields import APPLY, UPDATE, Managers
from listwatch.protocol.errors import bad_request
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.field_types import FieldType, field_type

Document = dict[str, Any]


@dataclass
class OneVersion:
    """A change of an object whose kind has one version."""

    ftype: FieldType
    version: str
    old: Document
    new: Document

    def compare(self, api_version: str) -> Comparison | None:
        if api_version != self.version:
            return None
        return compare(self.ftype, self.old, self.new)


@dataclass
class History:
    """An object without a server: nothing is defaulted, nothing falls away."""

    gvk: GroupVersionKind
    ftype: FieldType = field(init=False)
    live: Document = field(init=False)
    managers: Managers = field(default_factory=dict)
    time: int = 0

    def __post_init__(self) -> None:
        self.ftype = field_type(self.gvk)
        self.live = self.empty

    @property
    def empty(self) -> Document:
        return {"kind": self.gvk.kind, "apiVersion": self.gvk.api_version}

    def update(self, document: Document, manager: str) -> None:
        change = self._change(manager, UPDATE, self.live, document)
        self.managers = server_side_apply.updated(self.managers, change)
        self.live = document

    def apply(self, config: Document, manager: str, *, force: bool = False) -> None:
        why = server_side_apply.refusal(self.ftype, config)
        if why:
            raise bad_request(why)
        managers = self.managers
        if not managers:
            untracked = self._change("before-first-apply", UPDATE, self.empty, self.live)
            managers = server_side_apply.updated({}, untracked)
        change = self._change(manager, APPLY, self.live, self.live)
        document, managers = server_side_apply.merged(
            self.ftype, self.live, config, managers, change
        )
        change = self._change(manager, APPLY, self.live, document)
        self.managers = server_side_apply.settled(managers, change, force=force)
        self.live = document

    def _change(
        self, manager: str, operation: str, old: Document, new: Document
    ) -> server_side_apply.Change:
        self.time += 1
        version = self.gvk.api_version
        return server_side_apply.Change(
            managed_fields.manager(manager, operation, version, ""),
            version,
            f"2024-01-01T00:00:{self.time:02}Z",
            lambda fields: fields,
            OneVersion(self.ftype, version, old, new),
        )

    def owners(self) -> list[Document]:
        """The entries without their times, in an order of their own."""
        return timeless(managed_fields.dump(self.managers))


def timeless(entries: list[Document]) -> list[Document]:
    bare = [{k: v for k, v in entry.items() if k != "time"} for entry in entries]
    return sorted(bare, key=lambda entry: (entry["operation"], entry["manager"]))


def written(value: Any) -> str:
    """JSON with its keys as they stand."""
    return json.dumps(value)
