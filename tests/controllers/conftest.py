"""One cluster for all tests of a session; each test has a namespace of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.controllers.cluster import Cluster, Namespace, eventually
from tests.servers import running

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """`manage.py serve` with its controllers, as people start it."""
    with running(tmp_path_factory.mktemp("cluster"), "--controllers=*") as server:
        made = Cluster(server)
        eventually(lambda: len(made.nodes()) == 3)
        yield made
        assert "Traceback" not in server.log


@pytest.fixture
def namespace(cluster: Cluster) -> Namespace:
    return cluster.namespace(f"test-{next(NUMBERS)}")
