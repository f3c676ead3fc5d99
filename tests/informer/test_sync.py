"""The same informers for threads, on a real server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from listwatch.informer import ClientConfig, HandlerOptions, NotSyncedError, Scope
from listwatch.informer.errors import NotFoundError
from listwatch.informer.resources import CONFIG_MAPS
from listwatch.informer.sync import SyncInformers
from listwatch.informer.workqueue import ExponentialLimiter, ShutDownError
from tests.servers import Server, free_port

_number = iter(range(1000))


@pytest.fixture
def namespace(server: Server) -> str:
    name = f"threads-{next(_number)}"
    server.json("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    return name


def create(server: Server, namespace: str, name: str) -> None:
    body = {"metadata": {"name": name}}
    server.json("POST", f"/api/v1/namespaces/{namespace}/configmaps", body)


def until(condition: Callable[[], Any], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


def informers(server: Server, namespace: str) -> SyncInformers:
    return SyncInformers(ClientConfig(server.url, token=server.token), scope=Scope(namespace))


def test_a_cache_is_read_and_handlers_are_called_in_threads_of_their_own(
    server: Server, namespace: str
) -> None:
    create(server, namespace, "a")
    told: list[tuple[str, str]] = []
    with informers(server, namespace) as made:
        informer = made.informer_for(CONFIG_MAPS, indexers={"all": lambda _: ["x"]})
        registration = informer.add_handler(
            on_add=lambda o, _: told.append(
                (o["metadata"]["name"], threading.current_thread().name)
            )
        )
        made.start()
        made.wait_for_cache_sync(registration, seconds=10)
        assert registration.has_synced
        assert informer.has_synced
        assert informer.is_live
        create(server, namespace, "b")
        until(lambda: len(told) == 2)
        found = informer.indexer.by_index("all", "x")
        assert sorted(o["metadata"]["name"] for o in found) == ["a", "b"]
        assert informer.lister.get("a", namespace)["metadata"]["name"] == "a"
        with pytest.raises(NotFoundError):
            made.request("GET", CONFIG_MAPS.path(namespace, "none"))
        assert registration.statistics().delivered == 2
        assert informer.statistics().indexer.objects == 2
        registration.remove()
        registration.remove()

    assert [name for name, _ in told] == ["a", "b"]
    assert all(thread.startswith("handler configmaps") for _, thread in told)


def test_a_handler_that_blocks_holds_up_no_other(server: Server, namespace: str) -> None:
    create(server, namespace, "a")
    gate, quick = threading.Event(), threading.Event()

    def blocked(*_: Any) -> None:
        gate.wait(20)

    with informers(server, namespace) as made:
        informer = made.informer_for(CONFIG_MAPS)
        informer.add_handler(on_add=blocked)
        informer.add_handler(on_add=lambda *_: quick.set(), options=HandlerOptions(name="quick"))
        made.start()
        assert quick.wait(10)
        gate.set()


def test_stop_may_be_called_from_a_handler_and_from_any_thread(
    server: Server, namespace: str
) -> None:
    create(server, namespace, "a")
    made = informers(server, namespace)
    called = threading.Event()

    def stop(*_: Any) -> None:
        made.stop()
        called.set()

    informer = made.informer_for(CONFIG_MAPS)
    informer.add_handler(on_add=stop)
    made.start()
    assert called.wait(10)
    until(lambda: not made._thread._thread.is_alive())
    assert informer.informer.stopped
    made.stop()


def test_waiting_ends_in_time_where_there_is_no_server() -> None:
    config = ClientConfig(f"http://127.0.0.1:{free_port()}")
    with SyncInformers(config) as made:
        informer = made.informer_for(CONFIG_MAPS)
        made.start()
        with pytest.raises(NotSyncedError, match="configmaps"):
            informer.wait_synced(0.2)


def test_workers_in_threads_share_a_queue(server: Server, namespace: str) -> None:
    seen: list[str] = []
    with informers(server, namespace) as made:
        queue = made.queue("q", limiter=ExponentialLimiter(0.001))

        def work() -> None:
            while True:
                try:
                    item = queue.get()
                except ShutDownError:
                    return
                if item == "bad" and seen.count("bad") < 2:
                    queue.add_rate_limited(item)
                else:
                    queue.forget(item)
                seen.append(item)
                queue.done(item)

        workers = [threading.Thread(target=work) for _ in range(3)]
        for worker in workers:
            worker.start()
        for item in ("a", "b", "bad"):
            queue.add(item)
        queue.add_after("later", 0.05)
        until(lambda: seen.count("bad") == 3 and "later" in seen)
        queue.shut_down(drain=True)
        for worker in workers:
            worker.join(10)

        assert sorted(seen) == ["a", "b", "bad", "bad", "bad", "later"]
        assert queue.statistics().processing == 0


def test_a_call_that_would_wait_for_itself_is_refused(server: Server, namespace: str) -> None:
    made = informers(server, namespace)
    with made, pytest.raises(RuntimeError, match="the thread that it waits for"):
        made._thread.run(lambda: made.request("GET", "/version"))
