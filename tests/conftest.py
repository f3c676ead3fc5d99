"""Fixtures that all rooms share: the database on disk, and a loop that may not be blocked."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster, blockbuster_ctx


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The test database is a file: one in memory has neither a log to write ahead nor threads."""
    from django.db import connection

    if connection.vendor == "sqlite":
        path = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(path)


@pytest.fixture(autouse=True)
def blockbuster(request: pytest.FixtureRequest) -> Iterator[BlockBuster | None]:
    """An async test that blocks its event loop fails."""
    if inspect.iscoroutinefunction(getattr(request.node, "obj", None)):
        with blockbuster_ctx() as buster:
            yield buster
    else:
        yield None
