"""Both servers, one after the other, for every test that is about the wire."""

from __future__ import annotations

import pytest

from tests.servers import Server


@pytest.fixture(autouse=True)
def blockbuster() -> None:
    """Servers that start in a test's own loop read their files there: blocking is allowed."""


@pytest.fixture(params=["serve", "runserver"])
def any_server(request: pytest.FixtureRequest) -> Server:
    """`serve`, then `runserver`: what is said of one holds for the other."""
    name = "server" if request.param == "serve" else "daphne_server"
    made: Server = request.getfixturevalue(name)
    return made
