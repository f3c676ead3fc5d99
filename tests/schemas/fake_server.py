"""An API server that knows discovery and OpenAPI and keeps what is sent to it, for tests."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from listwatch.schemas.kinds import builtin_resources
from listwatch.schemas.openapi import openapi_v2, openapi_v3, openapi_v3_index

if TYPE_CHECKING:
    from collections.abc import Iterator


class Sent(NamedTuple):
    """One request that changes something."""

    method: str
    path: str
    content_type: str
    body: bytes


class FakeServer(ThreadingHTTPServer):
    """Answers every write with success, every read of an object with 404."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sent: list[Sent] = []
        self.authorizations: set[str] = set()
        self.documents = _discovery()
        self.tables = _tables()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def fake_server() -> Iterator[FakeServer]:
    server = FakeServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing is logged."""

    def do_GET(self) -> None:
        self.server.authorizations.add(self.headers.get("Authorization", ""))
        path = self.path.partition("?")[0]
        if path == "/openapi/v2" and "json" not in self.headers.get("Accept", ""):
            self._answer(406, _status(406, "NotAcceptable"))
        elif path == "/openapi/v2":
            self._answer(200, openapi_v2().body)
        elif path == "/openapi/v3":
            self._answer(200, openapi_v3_index().body)
        elif path.startswith("/openapi/v3/"):
            document = openapi_v3(re.sub("^/openapi/v3/apis?/", "", path))
            self._answer(200, document.body) if document else self._answer(404, b"{}")
        elif path in self.server.tables and "as=Table" in self.headers.get("Accept", ""):
            self._answer(200, json.dumps(self.server.tables[path]).encode())
        elif path in self.server.documents:
            self._answer(200, json.dumps(self.server.documents[path]).encode())
        else:
            self._answer(404, _status(404, "NotFound"))

    def _write(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content_type = self.headers.get("Content-Type", "")
        self.server.sent.append(Sent(self.command, self.path, content_type, body))
        self._answer(201, _status(201, ""))

    do_POST = do_PUT = do_PATCH = do_DELETE = _write  # noqa: N815

    def _answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _status(code: int, reason: str) -> bytes:
    status = "Success" if code < 400 else "Failure"
    document = {"kind": "Status", "apiVersion": "v1", "status": status, "reason": reason}
    return json.dumps({**document, "code": code, "metadata": {}}).encode()


def _discovery() -> dict[str, Any]:
    documents: dict[str, Any] = {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/version": {"major": "1", "minor": "36+"},
    }
    groups: dict[str, list[str]] = {}
    for resource in builtin_resources():
        root = f"/apis/{resource.group}" if resource.group else "/api"
        entries = documents.setdefault(
            f"{root}/{resource.version}",
            {"kind": "APIResourceList", "groupVersion": resource.api_version, "resources": []},
        )["resources"]
        entries.append(
            {
                "name": resource.resource,
                "singularName": resource.singular,
                "namespaced": resource.namespaced,
                "kind": resource.kind,
                "verbs": sorted(resource.verbs),
                "shortNames": list(resource.short_names),
                "categories": list(resource.categories),
            }
        )
        entries += [
            {
                "name": f"{resource.resource}/{part.name}",
                "singularName": "",
                "namespaced": resource.namespaced,
                "group": part.kind.group,
                "version": part.kind.version,
                "kind": part.kind.kind,
                "verbs": sorted(part.verbs),
            }
            for part in resource.subresources
        ]
        if resource.group and resource.version not in groups.setdefault(resource.group, []):
            groups[resource.group].append(resource.version)
    documents["/apis"] = {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [
            {
                "name": group,
                "versions": [
                    {"groupVersion": f"{group}/{version}", "version": version}
                    for version in versions
                ],
                "preferredVersion": {
                    "groupVersion": f"{group}/{versions[-1]}",
                    "version": versions[-1],
                },
            }
            for group, versions in groups.items()
        ],
    }
    return documents


def _tables() -> dict[str, Any]:
    tables = {}
    for resource in builtin_resources():
        group, version = resource.group, resource.version
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        columns = [
            {
                "name": column.name,
                "type": column.type,
                "format": column.format,
                "description": "prose",
                "priority": column.priority,
            }
            for column in resource.columns
        ]
        table = {"kind": "Table", "columnDefinitions": columns, "rows": []}
        tables[f"{root}/{resource.resource}"] = table
    return tables
