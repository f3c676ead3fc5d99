"""A lesson leaves nothing behind, and deletes nothing of others when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connection

from dashboard.attached import Opening
from dashboard.learn.lesson import Lesson, attach_lesson
from listwatch.protocol.options import DeleteOptions, ListOptions
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


def context(runtime: Runtime, name: str = "") -> RequestContext:
    resource = runtime.resources.find("", "v1", "configmaps")
    assert resource is not None
    return RequestContext(SYSTEM, resource, namespace="default", name=name)


async def lessons_in(runtime: Runtime) -> list[str]:
    listed = await runtime.registry.list(context(runtime), ListOptions())
    return [each.name for each in listed.versions if each.name.startswith("lesson")]


@pytest.mark.parametrize("writes", [1, 2, 3, 4])
async def test_its_object_goes_when_it_ends(runtime: Runtime, lesson: Lesson, writes: int) -> None:
    for _ in range(writes):
        await lesson.act({"act": "write"})
    assert len(await lessons_in(runtime)) == (writes < 4)
    await lesson.stop()

    assert await lessons_in(runtime) == []


async def test_what_others_made_under_its_name_stays(runtime: Runtime, lesson: Lesson) -> None:
    await lesson.act({"act": "write"})
    (name,) = await lessons_in(runtime)
    await runtime.registry.delete(context(runtime, name), DeleteOptions())
    document = {"metadata": {"name": name}, "data": {"colour": "mine"}}
    await runtime.registry.create(context(runtime), document)
    await lesson.stop()

    assert await lessons_in(runtime) == [name]


async def test_lessons_side_by_side_write_objects_of_their_own(
    runtime: Runtime, lesson: Lesson
) -> None:
    user = await User.objects.aget(username="someone")
    other = await attach_lesson(Opening(runtime, user, lambda: None), {})
    await lesson.act({"act": "write"})
    await other.act({"act": "write"})

    assert len(await lessons_in(runtime)) == 2
    await other.stop()
    assert len(await lessons_in(runtime)) == 1
