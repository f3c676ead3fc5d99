"""Objects as rows of a Table: what `kubectl get` prints, made by the server.

Columns are facts of the resource, cells are computed by `schemas.cells`. Used by `forms` for
answers, and by watches as a representation of their lane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from listwatch.api.negotiation import META, TABLE
from listwatch.api.partial import bookmark_metadata, partial_object
from listwatch.protocol.errors import bad_request
from listwatch.protocol.kinds import Column
from listwatch.protocol.objects import Encoded, decode, header, splice
from listwatch.protocol.options import first as first_value
from listwatch.registry.conversions import served
from listwatch.schemas.cells import row_cells, row_conditions

if TYPE_CHECKING:
    from listwatch.api.request import KubernetesRequest
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.events import EventType
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Version

DEFAULT_COLUMNS = (Column("Name", "string", "name"), Column("Created At", "date"))
INCLUDED = ("Metadata", "Object", "None")


@dataclass(frozen=True, slots=True)
class TableForm:
    """How one resource becomes a Table. `included` is what each row carries of its object.

    `clock` tells the ages; two forms that differ in nothing else are equal.
    """

    resource: Resource
    clock: Clock = field(compare=False)
    version: str = "v1"
    included: str = "Metadata"

    @classmethod
    def of_request(cls, resource: Resource, request: KubernetesRequest) -> TableForm:
        """The form that was negotiated; raises 400 for an includeObject that is none."""
        included = first_value(request.query, "includeObject") or "Metadata"
        if included not in INCLUDED:
            raise bad_request(
                f'includeObject: Invalid value: "{included}": '
                "must be 'Metadata', 'Object', 'None', or empty"
            )
        version = request.form.version or "v1"
        return cls(resource, request.services.runtime.clock, version, included)

    @property
    def api_version(self) -> str:
        """The apiVersion of the Table and of what its rows carry."""
        return f"{META}/{self.version}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The resource's columns, or name and creation where it has none of its own."""
        return self.resource.columns or DEFAULT_COLUMNS

    def head(self, metadata: JSONObject, *, columns: bool) -> JSONObject:
        """The Table but for its rows, which stand last."""
        definitions = [
            {
                "name": column.name,
                "type": column.type,
                "format": column.format,
                "description": column.description,
                "priority": column.priority,
            }
            for column in self.columns
        ]
        return {
            "kind": TABLE,
            "apiVersion": self.api_version,
            "metadata": metadata,
            "columnDefinitions": definitions if columns else None,
        }

    def row_of(self, version: Version) -> bytes:
        """The row of a version as it is kept."""
        return self.row(served(self.resource, version.encoded), version.revision)

    def row(self, encoded: Encoded, revision: int) -> bytes:
        """The row of an object as it is served."""
        document = decode(encoded, revision)
        cells = self.cells(document)
        if conditions := row_conditions(self.resource.gvk, document):
            cells += b',"conditions":' + orjson.dumps(conditions)
        if self.included == "None":
            return b'{"cells":%b,"object":null}' % cells
        if self.included == "Object":
            return b'{"cells":%b,"object":%b}' % (cells, splice(encoded, revision))
        body = partial_object(encoded, revision, self.api_version)
        return b'{"cells":%b,"object":%b}' % (cells, body)

    def cells(self, document: JSONObject) -> bytes:
        """The cells of an object, also of one that holds nothing."""
        if self.resource.custom is not None:
            return orjson.dumps(self.resource.custom.cells(document, self.clock.now()))
        if self.resource.columns:
            return orjson.dumps(row_cells(self.resource.gvk, document, self.clock.now()))
        metadata = document.get("metadata", {})
        return orjson.dumps([metadata.get("name", ""), metadata.get("creationTimestamp")])


@dataclass(frozen=True, slots=True)
class TableRepresentation:
    """A watch of rows: each event is a Table of one, the first one alone carries the columns."""

    form: TableForm
    name: str = "table"
    first_frame_differs: bool = True

    def frame(
        self, event_type: EventType, version: Version, revision: int, *, first: bool = False
    ) -> bytes:
        """One event, newline included."""
        row = self.form.row(served(self.form.resource, version.encoded), revision)
        return self._frame(event_type.encode(), revision, row, first)

    def bookmark(self, revision: int, *, initial_events_end: bool, first: bool = False) -> bytes:
        """One bookmark, newline included: a row of nothing, whose object has the annotation."""
        metadata = bookmark_metadata(revision, initial_events_end=initial_events_end)
        cells = self.form.cells({"metadata": {}})
        start = header("PartialObjectMetadata", self.form.api_version)
        body = b'%b"metadata":%b}' % (start, orjson.dumps(metadata))
        if self.form.included == "None" and not initial_events_end:
            body = b"null"
        return self._frame(
            b"BOOKMARK", revision, b'{"cells":%b,"object":%b}' % (cells, body), first
        )

    def _frame(self, event_type: bytes, revision: int, row: bytes, first: bool) -> bytes:
        head = self.form.head({"resourceVersion": str(revision)}, columns=first)
        return b'{"type":"%b","object":%b,"rows":[%b]}}\n' % (
            event_type,
            orjson.dumps(head)[:-1],
            row,
        )
