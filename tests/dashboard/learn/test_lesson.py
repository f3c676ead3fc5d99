"""A lesson leaves nothing behind, and deletes nothing of others when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connection

from dashboard.attached import Opening
from dashboard.learn.lesson import OBJECT, Lesson, attach_lesson
from listwatch.protocol.errors import StatusError
from listwatch.registry.context import SYSTEM, RequestContext
from listwatch.runtime import Runtime


@pytest.fixture
async def lesson(runtime: Runtime) -> AsyncIterator[Lesson]:
    user = await sync_to_async(User.objects.create_superuser)("someone")
    made = await attach_lesson(Opening(runtime, user, lambda: None), {})
    made.start()
    for _ in range(200):
        if made.take()["store"]["synced"]:
            break
        await asyncio.sleep(0.01)
    yield made
    await made.stop()
    await sync_to_async(_forget)()


def _forget() -> None:
    User.objects.all().delete()
    connection.close()


def context(runtime: Runtime, name: str = OBJECT) -> RequestContext:
    resource = runtime.resources.find("", "v1", "configmaps")
    assert resource is not None
    return RequestContext(SYSTEM, resource, namespace="default", name=name)


async def is_there(runtime: Runtime) -> bool:
    try:
        await runtime.registry.get(context(runtime))
    except StatusError as error:
        if error.code == 404:
            return False
        raise
    return True


@pytest.mark.parametrize("writes", [1, 2, 3, 4])
async def test_its_object_goes_when_it_ends(runtime: Runtime, lesson: Lesson, writes: int) -> None:
    for _ in range(writes):
        await lesson.act({"act": "write"})
    assert await is_there(runtime) == (writes < 4)
    await lesson.stop()

    assert not await is_there(runtime)


async def test_an_object_of_the_same_name_that_others_made_stays(
    runtime: Runtime, lesson: Lesson
) -> None:
    document = {"metadata": {"name": OBJECT}, "data": {"colour": "mine"}}
    await runtime.registry.create(context(runtime, ""), document)
    await lesson.act({"act": "write"})
    await lesson.act({"act": "write"})
    await lesson.stop()

    assert await is_there(runtime)
