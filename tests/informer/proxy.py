"""A TCP proxy that does to a client what networks and dying servers do. Runs in a thread.

It reads one request for each connection, and answers it by a fault, or by the server behind it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.servers import free_port

EXPIRED = {
    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 410,
    "reason": "Expired", "message": "too old resource version: 1 (2)",
}  # fmt: skip
BUSY = {
    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 429,
    "reason": "TooManyRequests", "message": "busy", "details": {"retryAfterSeconds": 1},
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """What happens to one request. `on` is `watch`, `list` or `any`."""

    on: str = "any"
    status: int = 0  # answer so, with `body`, instead of asking the server
    body: Any = None
    frames: tuple[Any, ...] | None = None  # answer 200 with these lines, and end
    delay: float = 0.0  # before anything is answered
    cut_after: int = -1  # bytes of the answer, then the connection is reset
    split: int = 0  # the answer in pieces of so many bytes
    silent_after: int = -1  # bytes of the answer, then nothing, the connection stays

    def wants(self, target: str) -> bool:
        kind = "watch" if "watch=1" in target or "watch=true" in target.lower() else "list"
        return self.on in ("any", kind)


class Proxy:
    """Listens on a port of its own; `url` is for the client."""

    def __init__(self, port: int) -> None:
        self.upstream = port
        self.port = free_port()
        self.faults: deque[Fault] = deque()
        self.always: Fault | None = None  # for whatever no fault is for
        self.rewrite: Callable[[str], str] = lambda target: target
        self.requests: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._mute = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # For the thread of the test

    def refuse(self) -> None:
        """Nobody listens any more; what is open is cut."""
        self._run(self._stop_listening())
        self.cut()

    def accept(self) -> None:
        self._run(self._listen())

    def cut(self) -> None:
        """Reset every connection that is open now."""
        self._run(self._cut())

    def silence(self) -> None:
        """Say nothing more on what is open now; the connections stay."""
        self._run(self._silence())

    def watches(self) -> int:
        return sum("watch=" in target for target in self.requests)

    # In the thread of the proxy

    def _run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _stop_listening(self) -> None:
        if self._server is not None:
            # asyncio would forget, open and unanswered, what was accepted but not yet served.
            for listener in self._server.sockets:
                self._loop.remove_reader(listener.fileno())
            for _ in range(5):
                await asyncio.sleep(0)
            self._server.close()
            self._server = None

    async def _cut(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def _silence(self) -> None:
        self._mute.set()
        self._mute = asyncio.Event()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._open.add(writer)
        mute = self._mute
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            method, target, rest = head.decode("latin-1").split(" ", 2)
            self.requests.append(target)
            fault = self._fault_for(target)
            await asyncio.sleep(fault.delay)
            if fault.frames is not None or fault.status:
                writer.write(_answer(fault))
                await writer.drain()
                return
            await self._forward(
                f"{method} {self.rewrite(target)} {rest}".encode("latin-1"), writer, fault, mute
            )
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # a cancelled one is told by asyncio.streams as a fault
        finally:
            self._tasks.discard(task)
            self._open.discard(writer)
            writer.close()

    def _fault_for(self, target: str) -> Fault:
        for fault in self.faults:
            if fault.wants(target):
                self.faults.remove(fault)
                return fault
        if self.always is not None and self.always.wants(target):
            return self.always
        return Fault()

    async def _forward(
        self, head: bytes, writer: asyncio.StreamWriter, fault: Fault, mute: asyncio.Event
    ) -> None:
        source, sink = await asyncio.open_connection("127.0.0.1", self.upstream)
        self._open.add(sink)
        sent = 0
        try:
            sink.write(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
            while chunk := await source.read(65536):
                for piece in _pieces(chunk, fault.split):
                    if fault.cut_after >= 0 and sent + len(piece) > fault.cut_after:
                        writer.write(piece[: fault.cut_after - sent])
                        await writer.drain()
                        await asyncio.sleep(0.05)
                        writer.transport.abort()
                        return
                    if mute.is_set() or 0 <= fault.silent_after <= sent:
                        await asyncio.sleep(3600)
                    writer.write(piece)
                    await writer.drain()
                    sent += len(piece)
                    if fault.split:
                        await asyncio.sleep(0.001)
        finally:
            self._open.discard(sink)
            sink.close()

    def _thread(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        for task in list(self._tasks):
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
        self._loop.run_until_complete(asyncio.sleep(0.05))
        self._loop.close()


def _pieces(chunk: bytes, size: int) -> Iterator[bytes]:
    step = size or len(chunk)
    for at in range(0, len(chunk), step):
        yield chunk[at : at + step]


def _answer(fault: Fault) -> bytes:
    if fault.frames is not None:
        lines = b"".join(json.dumps(frame).encode() + b"\n" for frame in fault.frames)
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(lines), lines)
        return (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + body
        )
    data = fault.body if isinstance(fault.body, bytes) else json.dumps(fault.body).encode()
    after = b"Retry-After: 1\r\n" if fault.status == 429 else b""
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n%bConnection: close\r\n\r\n%b" % (
        fault.status, len(data), after, data,
    )  # fmt: skip


@contextlib.contextmanager
def proxied(port: int) -> Iterator[Proxy]:
    """A proxy in front of a port, gone at the end."""
    proxy = Proxy(port)
    thread = threading.Thread(target=proxy._thread, daemon=True)
    thread.start()
    proxy.accept()
    try:
        yield proxy
    finally:
        proxy._run(proxy._stop_listening())
        proxy._loop.call_soon_threadsafe(proxy._loop.stop)
        thread.join(10)
