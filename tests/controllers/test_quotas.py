"""The quota controller asks what objects take where there is a quota, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.controllers.quotas import controller as quotas
from listwatch.informer import InformerOptions, ReflectorOptions, SharedIndexInformer
from listwatch.informer.list_watch import WatchEvent
from listwatch.informer.resources import PODS, RESOURCE_QUOTAS
from listwatch.schemas import quota_usage
from listwatch.testing.clock import FakeClock
from tests.controllers.test_parts import pod
from tests.informer.kit import FakeStream, Script, page, settle

PLAIN = InformerOptions(reflector=ReflectorOptions(streaming_lists=False))


class Environment:
    """Two informers, fed by the test."""

    client = None

    def __init__(self, *found: Any) -> None:
        self.clock = FakeClock()
        self.stream = FakeStream()
        sources = {
            PODS: Script([page(1, made("old", "1"))], [self.stream]),
            RESOURCE_QUOTAS: Script([page(1, *found)], [FakeStream()]),
        }
        self.informers = {
            resource: SharedIndexInformer(
                source, resource=resource, options=PLAIN, clock=self.clock
            )
            for resource, source in sources.items()
        }  # fmt: skip

    def informer(self, resource: Any, scope: None = None) -> SharedIndexInformer:
        return self.informers[resource]


def made(name: str, version: str, cpu: str = "1") -> Any:
    subject = {"kind": "Pod", "apiVersion": "v1", **pod(name)}
    subject["metadata"]["resourceVersion"] = version
    subject["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return subject


def quota(**hard: str) -> Any:
    metadata = {"name": "q", "namespace": "default", "resourceVersion": "1"}
    return {"kind": "ResourceQuota", "apiVersion": "v1", "metadata": metadata,
            "spec": {"hard": hard}}  # fmt: skip


@pytest.mark.parametrize(
    ("found", "asked", "queued"),
    [([], 0, 0), ([quota(services="1")], 0, 0), ([quota(pods="9")], 4, 1)],
)
async def test_what_a_pod_takes_is_asked_only_where_a_quota_counts_pods(
    found: list[Any], asked: int, queued: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, calls = Environment(*found), 0

    def usage(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        return quota_usage.usage(*arguments)

    monkeypatch.setattr(f"{quotas.__name__}.usage", usage)
    made_of: Any = environment
    controller = quotas.ResourceQuotas(made_of)
    pods, limits = environment.informers[PODS], environment.informers[RESOURCE_QUOTAS]
    async with limits, pods:
        await settle()
        await environment.clock.advance(quotas.PAUSE)
        while controller.queue.statistics().depth:
            controller.queue.done(await controller.queue.get())
        environment.stream.send(
            WatchEvent("MODIFIED", made("old", "2")), WatchEvent("MODIFIED", made("old", "3", "2"))
        )
        await settle()
        await environment.clock.advance(quotas.PAUSE)
        assert (calls, controller.queue.statistics().depth) == (asked, queued)
