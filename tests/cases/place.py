"""Where a case is tried: one namespace of a server, with short words for what cases do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.servers import Server
from tests.wire.streams import Stream

STREAMING_LIST = (
    "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
)
Document = dict[str, Any]  # Any: JSON
Answer = tuple[int, Document]


def widget_definition(
    plural: str = "widgets", kind: str = "Widget", group: str = "demo.example.com"
) -> Document:
    """A custom kind with status, columns and one field that can be selected by."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "selectableFields": [{"jsonPath": ".spec.size"}, {"jsonPath": ".spec.online"}],
                    "additionalPrinterColumns": [
                        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                        {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
                        {"name": "Since", "type": "date", "jsonPath": ".spec.since"},
                        {"name": "Colour", "type": "string", "jsonPath": ".spec.colour",
                         "priority": 1},
                    ],
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                        "spec": {"type": "object", "properties": {
                            "size": {"type": "integer"}, "online": {"type": "boolean"},
                            "since": {"type": "string"}, "colour": {"type": "string"},
                            "parts": {"type": "array", "items": {"type": "string"}},
                        }},
                        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                    }}},
                }
            ],
        },
    }  # fmt: skip


@dataclass(frozen=True)
class Place:
    """One namespace. `answer` gives whatever came; the other words fail unless they succeed."""

    server: Server
    namespace: str

    @property
    def widgets(self) -> str:
        return f"/apis/demo.example.com/v1/namespaces/{self.namespace}/widgets"

    @property
    def config_maps(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/configmaps"

    def answer(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        status, answer = self.server.request(method, path, body, **headers)
        document = json.loads(answer)
        if status >= 400:
            assert document["kind"] == "Status", document
            assert document["code"] == status
        return status, document

    def get(self, path: str) -> Document:
        document: Document = self.server.json("GET", path)
        return document

    def put(self, path: str, document: object) -> Document:
        answer: Document = self.server.json("PUT", path, document)
        return answer

    def delete(self, path: str) -> Document:
        answer: Document = self.server.json("DELETE", path)
        return answer

    def names(self, path: str, **query: str) -> list[str]:
        text = "&".join(f"{name}={quote(value)}" for name, value in query.items())
        return [item["metadata"]["name"] for item in self.get(f"{path}?{text}")["items"]]

    def widget(self, name: str, spec: Document | None = None, **metadata: object) -> Document:
        """A new widget, as the server answered it."""
        made: Document = self.server.json("POST", self.widgets, {
            "apiVersion": "demo.example.com/v1", "kind": "Widget",
            "metadata": {"name": name, **metadata}, "spec": spec or {},
        })  # fmt: skip
        return made

    def config_map(self, name: str, data: Document | None = None, **metadata: object) -> Document:
        """A new ConfigMap, as the server answered it."""
        made: Document = self.server.json("POST", self.config_maps, {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata},
            "data": data or {},
        })  # fmt: skip
        return made

    def revision(self, path: str) -> str:
        """The resourceVersion of a list."""
        revision: str = self.get(f"{path}?limit=1")["metadata"]["resourceVersion"]
        return revision

    def watch(self, path: str, query: str) -> Stream:
        """A watch that was accepted as one."""
        stream = Stream(self.server, f"{path}?{query}")
        headers = stream.headers()
        assert headers[":status"] == "200", headers
        assert headers.get("transfer-encoding") == "chunked", headers
        return stream


def revision_of(document: Document) -> int:
    return int(document["metadata"]["resourceVersion"])


def event(stream: Stream) -> tuple[str, Document]:
    """The next event; fails if the stream ended."""
    found = stream.event()
    assert found is not None
    return found["type"], found["object"]
