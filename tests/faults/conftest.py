from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import Server, running


@pytest.fixture(scope="session")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that lets faults be put in; bookmarks come often, slow readers end soon."""
    with running(
        tmp_path_factory.mktemp("faulty"), "--faults",
        LISTWATCH_BOOKMARK_PERIOD="2", LISTWATCH_SLOW_READER_TIMEOUT="2",
    ) as made:  # fmt: skip
        yield made


@pytest.fixture(autouse=True)
def no_fault_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "faulty" in request.fixturenames:
        request.getfixturevalue("faulty").json("DELETE", "/debug/faults")
