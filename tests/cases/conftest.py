"""A server of the cases' own, with the kind `Widget`, and a namespace for each test."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import pytest

from tests.cases.place import Place, widget_definition
from tests.servers import Server, running

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def cases_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("cases")) as made:
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        made.json("POST", definitions, widget_definition())
        deadline = time.monotonic() + 10
        while made.get("/apis/demo.example.com/v1/widgets")[0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield made


@pytest.fixture
def place(cases_server: Server) -> Place:
    """A namespace that no other test has."""
    name = f"blue-{next(NUMBERS)}"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    cases_server.json("POST", "/api/v1/namespaces", namespace)
    return Place(cases_server, name)
