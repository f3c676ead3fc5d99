from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection

from listwatch.runtime import Runtime
from tests.admin.conftest import facts, runtime  # noqa: F401 (fixtures)
from tests.admin.visitor import Client
from tests.dashboard.objects.visitor import Visitor


@pytest.fixture
async def visitor(runtime: Runtime) -> AsyncIterator[Visitor]:  # noqa: F811 (the fixture)
    """A superuser, who may do everything."""
    yield await _signed_in(runtime, superuser=True)
    await sync_to_async(_forget)()


@pytest.fixture
async def guest(runtime: Runtime) -> AsyncIterator[Visitor]:  # noqa: F811 (the fixture)
    """One who may do what his roles say: nothing, until a test allows something."""
    yield await _signed_in(runtime, superuser=False)
    await sync_to_async(_forget)()


async def _signed_in(runtime: Runtime, *, superuser: bool) -> Visitor:  # noqa: F811 (the fixture)
    user = await sync_to_async(User.objects.create_user)("someone", is_superuser=superuser)
    client = Client(runtime)
    await client.aforce_login(user)
    return Visitor(client, runtime)


def _forget() -> None:
    for model in (Session, User):
        model.objects.all().delete()
    connection.close()
