"""The official Python client's informer as a process: `official_process.py URL TOKEN NAMESPACE`."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

from kubernetes import client
from kubernetes.informer import ADDED, DELETED, MODIFIED, SharedInformer

from tests.informer.mirror import Mirror, answer_questions


def main(url: str, token: str, namespace: str) -> None:
    configuration = client.Configuration(host=url)
    configuration.api_key = {"authorization": f"Bearer {token}"}
    api, mirror = client.CoreV1Api(client.ApiClient(configuration)), Mirror()
    # Any: that package has no types.
    make: Any = SharedInformer
    informer: Any = make(api.list_namespaced_config_map, namespace=namespace)

    def seen(function: Any) -> Any:
        return lambda o: function(o.metadata.name, o.metadata.resource_version)

    def listen(mirror: Mirror) -> None:
        informer.add_event_handler(ADDED, seen(mirror.added))
        informer.add_event_handler(MODIFIED, seen(mirror.updated))
        informer.add_event_handler(DELETED, seen(lambda name, _: mirror.deleted(name)))

    listen(mirror)
    informer.start()

    def describe(question: str) -> Any:
        nonlocal mirror
        if question == "late":
            mirror = Mirror()
            listen(mirror)
        stored = informer.cache.list()
        return {
            "cache": {o.metadata.name: o.metadata.resource_version for o in stored},
            "data": {o.metadata.name: o.data for o in stored},
            "handlers": dict(mirror.state),
            "illegal": list(mirror.illegal),
            "repeats": mirror.repeats,
            # It has no word for this: a version other than none is the nearest there is.
            "synced": informer._resource_version is not None,
            "live": None,
        }

    answer_questions(describe)
    os._exit(0)  # its stop() may hang on a dead connection


if __name__ == "__main__":
    logging.basicConfig(level=logging.CRITICAL, stream=sys.stderr)
    main(*sys.argv[1:4])
