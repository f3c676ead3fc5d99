"""Our informer as a process of its own: `python our_process.py URL TOKEN NAMESPACE`."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any

from listwatch.informer import (
    Client,
    ClientConfig,
    InformerOptions,
    ReflectorOptions,
    Registration,
    Scope,
    SharedInformerFactory,
)
from listwatch.informer.backoff import BackoffPolicy
from listwatch.informer.resources import CONFIG_MAPS
from tests.informer.mirror import Mirror, answer_questions


async def main(url: str, token: str, namespace: str) -> None:
    mirror, loop = Mirror(), asyncio.get_running_loop()
    # Times are a tenth of the usual ones, as the servers' bookmarks are.
    options = ReflectorOptions(
        idle_seconds=4, initial_idle_seconds=4, backoff=BackoffPolicy(initial=0.1, cap=2)
    )
    async with Client(ClientConfig(url, token=token)) as client:
        factory = SharedInformerFactory(
            client, options=InformerOptions(reflector=options), scope=Scope(namespace)
        )
        informer = factory.informer_for(CONFIG_MAPS)

        def version(subject: Any) -> str:
            return str(subject["metadata"]["resourceVersion"])

        def listen(mirror: Mirror) -> Registration:
            return informer.add_handler(
                on_add=lambda new, _: mirror.added(new["metadata"]["name"], version(new)),
                on_update=lambda _, new: mirror.updated(new["metadata"]["name"], version(new)),
                on_delete=lambda gone: mirror.deleted(gone.name),
            )

        registration = listen(mirror)

        async def describe(question: str) -> Any:
            nonlocal mirror
            if question == "late":
                mirror = Mirror()
                listen(mirror)
            statistics = informer.statistics()
            return {
                "cache": {o["metadata"]["name"]: version(o) for o in informer.indexer.list()},
                "data": {o["metadata"]["name"]: o.get("data") for o in informer.indexer.list()},
                "handlers": mirror.state,
                "illegal": mirror.illegal,
                "repeats": mirror.repeats,
                "synced": registration.has_synced,
                "live": informer.is_live,
                "lists": statistics.reflector.lists,
                "silences": statistics.reflector.silences,
            }

        def ask(question: str) -> Any:
            return asyncio.run_coroutine_threadsafe(describe(question), loop).result(10)

        async with factory.running():
            await asyncio.to_thread(answer_questions, ask)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    asyncio.run(main(*sys.argv[1:4]))
