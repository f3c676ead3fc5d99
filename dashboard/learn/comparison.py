"""Polling, long polling and watching measured on this server, from a process of its own.

`listwatch.informer.three_ways` measures; its clients run beside the server and not in its loop, or
they would measure themselves. One at a time, within bounds.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING, Any

import orjson

from dashboard.attached import JSON, Message, Opening
from dashboard.learn.own_client import own_config
from dashboard.learn.way import require_all
from listwatch.protocol.errors import bad_request, too_many_requests

if TYPE_CHECKING:
    from listwatch.informer import ClientConfig

CLIENTS = (1, 50)
RATES = (1, 20)
CHANGES = 20  # of each run
SECONDS = 120.0  # of all runs together, at most
_under_way: set[Comparison] = set()


class Comparison:
    """One measurement. `start` once; `stop` ends its process."""

    def __init__(
        self, config: ClientConfig, clients: list[int], rate: int, opening: Opening
    ) -> None:
        options = {
            "clients": clients, "rates": [rate], "changes": CHANGES, "objects": 50, "interval": 1.0,
        }  # fmt: skip
        self._wish: JSON = {
            "server": config.server, "token": config.token, "ca": config.ca, "options": options,
        }  # fmt: skip
        self._runs = 3 * len(clients)
        self._wake = opening.wake
        self._rows: list[JSON] = []
        self._phase, self._says = "measuring", ""
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self.dirty = True

    def start(self) -> None:
        """Measure."""
        _under_way.add(self)
        self._task = asyncio.create_task(self._run(), name="three ways compared")

    async def stop(self) -> None:
        """End it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        _under_way.discard(self)

    def pause(self, paused: bool) -> None:
        """Nothing to freeze."""

    def show_page(self, visible: bool) -> None:
        """It goes on while nobody looks."""

    async def act(self, message: Message) -> None:
        """Nothing can be done meanwhile; raises 400."""
        raise bad_request("a measurement can only be stopped")

    def take(self) -> JSON:
        """All rows so far: they are few."""
        self.dirty = False
        return {
            "state": "live", "phase": self._phase, "says": self._says, "rows": self._rows,
            "runs": self._runs,
        }  # fmt: skip

    async def _run(self) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                await self._measure()
            if self._phase == "measuring":
                self._phase = "done"
        except TimeoutError:
            self._phase, self._says = "failed", f"not done within {SECONDS:.0f} s"
        except OSError as error:
            self._phase, self._says = "failed", str(error)
        finally:
            await self._end()
            _under_way.discard(self)
            self._moved()

    async def _measure(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "listwatch.informer.three_ways",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(orjson.dumps(self._wish))
        self._process.stdin.close()
        async for line in self._process.stdout:
            record = orjson.loads(line)
            if "error" in record:
                self._phase, self._says = "failed", record["error"]
            else:
                self._rows.append(row_of(record, len(self._rows) + 1))
            self._moved()
        if await self._process.wait() and self._phase == "measuring":
            self._phase, self._says = "failed", "the measuring process failed"

    async def _end(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()

    def _moved(self) -> None:
        self.dirty = True
        self._wake()


def row_of(record: dict[str, Any], number: int) -> JSON:  # Any: JSON values
    """One run as the table shows it: costs are those of one client and one change."""
    shares = record["changes"] * record["clients"]
    return {
        "id": number,
        "way": record["way"],
        "clients": record["clients"],
        "delay": round(record["delay_median"] * 1000, 1),
        "p99": round(record["delay_p99"] * 1000, 1),
        "requests": record["requests"],
        "requests_each": round(record["requests"] / shares, 2),
        "bytes": record["received"],
        "bytes_each": round(record["received"] / shares),
        "unseen": record["unseen"],
    }


async def attach_comparison(opening: Opening, message: Message) -> Comparison:
    """A measurement; raises 400, 403, 429, 503."""
    clients = _integer(message, "clients", CLIENTS)
    rate = _integer(message, "rate", RATES)
    if _under_way:
        raise too_many_requests("another measurement is under way", 30)
    await require_all(opening)
    config = await asyncio.to_thread(own_config, opening.runtime.options, opening.url)
    return Comparison(config, sorted({1, clients}), rate, opening)


def _integer(message: Message, name: str, bounds: tuple[int, int]) -> int:
    value = message.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise bad_request(f"{name}: must be a whole number")
    if not bounds[0] <= value <= bounds[1]:
        raise bad_request(f"{name}: from {bounds[0]} to {bounds[1]}")
    return value
