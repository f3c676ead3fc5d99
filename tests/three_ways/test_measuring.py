"""Polling, long polling and watching beside each other: what the numbers mean."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from listwatch.informer import ClientConfig
from listwatch.informer.errors import ForbiddenError, UnauthorizedError
from listwatch.informer.three_ways import WAYS, Options, Record, measure
from tests.servers import ROOT, Server

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def config(server: Server) -> ClientConfig:
    return ClientConfig(server.url, token=server.token)


async def records(config: ClientConfig, **options: object) -> dict[str, Record]:
    wanted = {"clients": (2,), "rates": (50.0,), "objects": 5, "interval": 0.2, **options}
    return {each.way: each async for each in measure(config, Options(**wanted))}  # type: ignore[arg-type]


async def test_each_way_sees_the_last_state_and_costs_what_it_must(config: ClientConfig) -> None:
    found = await records(config, changes=20)

    assert list(found) == list(WAYS)
    for record in found.values():
        assert record.changes == 20
        assert 0 < record.delay_median <= record.delay_p99 <= record.delay_most
        assert record.received > 0
    # One request for each change and client, where nothing was sent twice and nothing was skipped.
    assert found["long poll"].requests >= 20 * 2
    assert found["long poll"].unseen == found["watch"].unseen == 0
    # A watch was opened before the first change, or is being opened during it.
    assert found["watch"].requests <= 2
    assert found["poll"].requests >= 2


async def test_a_poller_waits_and_misses_what_came_and_went(config: ClientConfig) -> None:
    found = await records(config, changes=40, objects=1, ways=("poll",), interval=1.0)

    assert found["poll"].unseen > 0
    assert found["poll"].delay_most > 0.2


async def test_nothing_is_left_behind(config: ClientConfig, server: Server) -> None:
    await records(config, changes=1, ways=("watch",))
    from listwatch.informer import Client
    from listwatch.informer.resources import NAMESPACES

    async with Client(config) as client:
        listed = await client.list(NAMESPACES)
    left = [
        each["metadata"]["name"]
        for each in listed["items"]
        if each["metadata"]["name"].startswith("three-ways-")
        and "deletionTimestamp" not in each["metadata"]
    ]
    assert left == []


async def test_who_may_not_is_told_at_once(server: Server) -> None:
    with pytest.raises((UnauthorizedError, ForbiddenError)):
        await records(ClientConfig(server.url, token="wrong"))


@pytest.mark.parametrize(
    "wrong", [{"ways": ("carrier pigeon",)}, {"clients": (0,)}, {"rates": (0.0,)}]
)
def test_nothing_impossible_is_measured(wrong: dict[str, tuple[object, ...]]) -> None:
    with pytest.raises(ValueError):
        Options(**wrong)  # type: ignore[arg-type]


def compare(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "manage.py"), "compare", "--data", str(folder)]
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_the_command_prints_a_table_or_records(server: Server) -> None:
    few = ("--clients", "1", "--rates", "50", "--changes", "3", "--objects", "3")
    table = compare(server.data, *few, "--interval", "0.1")
    assert table.returncode == 0, table.stderr
    assert [line.split("|")[1].strip() for line in table.stdout.splitlines()[2:]] == list(WAYS)

    lines = compare(server.data, *few, "--ways", "watch", "--json")
    assert json.loads(lines.stdout)["way"] == "watch"


def test_the_command_says_what_is_wrong(tmp_path: Path, server: Server) -> None:
    missing = compare(tmp_path)
    assert missing.returncode == 1
    assert "start `serve`, or name a server by --url" in missing.stderr

    refused = compare(tmp_path, "--url", server.url, "--token", "wrong")
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert server.url in refused.stderr


async def test_a_measuring_that_is_told_to_stop_removes_its_namespace(
    config: ClientConfig, server: Server
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "listwatch.informer.three_ways", cwd=ROOT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    options = {"clients": [2], "rates": [50.0], "objects": 5}
    wish = {"server": config.server, "token": config.token, "ca": config.ca, "options": options}
    process.stdin.write(json.dumps(wish).encode())
    process.stdin.close()
    await process.stdout.readline()  # one way is measured, and others are to come
    mine = await asyncio.to_thread(namespaces, server)
    process.terminate()

    assert await process.wait() == 128 + signal.SIGTERM
    assert mine
    assert not mine & await asyncio.to_thread(namespaces, server)


def namespaces(server: Server) -> set[str]:
    """Of measurings that are under way."""
    items = server.json("GET", "/api/v1/namespaces")["items"]
    active = {each["metadata"]["name"] for each in items if each["status"]["phase"] == "Active"}
    return {name for name in active if name.startswith("three-ways-")}
