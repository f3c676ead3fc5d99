"""A running server's runtime, and a browser whose user may do everything, without sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.db import connection

from listwatch.conf import Options
from listwatch.runtime import Runtime
from tests.admin.visitor import Client, Visitor
from tests.postgres import postgres_url

__all__ = ["postgres_url"]


@pytest.fixture(scope="session")
def facts() -> None:
    """Data files and templates are read when they are first asked for: before any loop runs."""
    from listwatch.schemas.decoding import decode
    from listwatch.schemas.kinds import kept_resources

    for resource in kept_resources():
        decode(resource.gvk, {"kind": resource.kind, "apiVersion": resource.api_version})


@pytest.fixture
async def runtime(facts: None, store: None) -> AsyncIterator[Runtime]:
    runtime = Runtime(Options())
    await runtime.start()
    yield runtime
    await runtime.stop()


@pytest.fixture
async def visitor(runtime: Runtime) -> AsyncIterator[Visitor]:
    """A superuser at the admin of the running server."""
    made = await sync_to_async(_user)(superuser=True)
    yield await _signed_in(runtime, made)
    await sync_to_async(_forget)()


@pytest.fixture
async def viewer(runtime: Runtime) -> AsyncIterator[Visitor]:
    """One who may look at config maps, and nothing else."""
    made = await sync_to_async(_user)("view_configmap")
    yield await _signed_in(runtime, made)
    await sync_to_async(_forget)()


def _user(*permissions: str, superuser: bool = False) -> User:
    user = User.objects.create_user("someone", is_staff=True, is_superuser=superuser)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


async def _signed_in(runtime: Runtime, user: User) -> Visitor:
    client = Client(runtime)
    await client.aforce_login(user)
    return Visitor(client, runtime)


def _forget() -> None:
    for model in (LogEntry, Session, User):
        model.objects.all().delete()
    connection.close()
