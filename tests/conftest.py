"""What all rooms share: a database on disk, an empty store, a loop that may not be blocked."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from pytest_django.plugin import DjangoDbBlocker

from tests.servers import daphne_server, server  # noqa: F401 (fixtures of every room)


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_modify_db_settings_parallel_suffix: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """The test database. On SQLite a file: one in memory has neither write-ahead log nor threads.

    pytest-django's own makes one only for the marker `django_db`, which `store` does without.
    """
    from django.db import connection
    from django.test.utils import setup_databases, teardown_databases

    if connection.vendor == "sqlite":
        path = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(path)
    with django_db_blocker.unblock():
        made = setup_databases(verbosity=0, interactive=False)
        yield
        teardown_databases(made, verbosity=0)


@pytest.fixture
def store(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The store's tables, open to all threads of the test, and emptied when it ends.

    Transactions are real ones. Much quicker than `django_db(transaction=True)`, which empties
    every table of every app; for tests that write nothing but the store.
    """
    from tests.store.helpers import emptied

    with django_db_blocker.unblock():
        yield
        emptied()


@pytest.fixture(autouse=True)
def blockbuster(request: pytest.FixtureRequest) -> Iterator[BlockBuster | None]:
    """An async test that blocks its event loop fails."""
    if inspect.iscoroutinefunction(getattr(request.node, "obj", None)):
        with blockbuster_ctx() as buster:
            # A look at one number in shared memory, on purpose: see listwatch.changefeed.freshness.
            for call in ("sqlite3.Connection.execute", "sqlite3.Cursor.fetchone"):
                if call in buster.functions:
                    buster.functions[call].can_block_in("freshness.py", {"look", "moved"})
            yield buster
    else:
        yield None
