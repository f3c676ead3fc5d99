"""Objects for the journeys, written through the API."""

from __future__ import annotations

import http.client
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.servers import Server

_numbers = itertools.count(1)


def fresh(prefix: str = "thing") -> str:
    """A name that no other journey has used."""
    return f"{prefix}-{next(_numbers)}"


def config_map(name: str, **data: str) -> dict[str, Any]:
    labels = {"app": name}
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def create(server: Server, name: str, **data: str) -> dict[str, Any]:
    path = "/api/v1/namespaces/default/configmaps"
    made: dict[str, Any] = server.json("POST", path, config_map(name, **data))
    return made


def change(server: Server, name: str, **data: str) -> dict[str, Any]:
    path = f"/api/v1/namespaces/default/configmaps/{name}"
    made: dict[str, Any] = server.json("PUT", path, config_map(name, **data))
    return made


def delete(server: Server, name: str) -> None:
    server.json("DELETE", f"/api/v1/namespaces/default/configmaps/{name}")


@contextmanager
def watching(server: Server, query: str, agent: str) -> Iterator[http.client.HTTPResponse]:
    """A client that watches config maps for as long as the block lasts."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {"Authorization": f"Bearer {server.token}", "User-Agent": agent}
    connection.request("GET", f"/api/v1/configmaps?watch=true&{query}", headers=headers)
    response = connection.getresponse()
    assert response.status == 200
    try:
        yield response
    finally:
        response.close()
        connection.close()
