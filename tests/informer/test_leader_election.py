"""One leader among many."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from listwatch.informer.errors import api_error
from listwatch.informer.leader_election import LeaderElectionOptions, LeaderElector
from listwatch.informer.objects import JSONObject
from listwatch.protocol.errors import internal_error
from listwatch.testing.clock import FakeClock
from tests.informer.kit import ended, settle, started


class Leases:
    """A server that has one Lease, or none; `fail` says which calls do not work."""

    def __init__(self) -> None:
        self.lease: JSONObject | None = None
        self.version = 0
        self.calls: list[str] = []
        self.fail: Callable[[str], str] = lambda _: ""

    def _check(self, verb: str) -> None:
        self.calls.append(verb)
        match self.fail(verb):
            case "conflict":
                raise api_error({"reason": "Conflict", "code": 409, "message": "moved"})
            case "error":
                raise api_error(internal_error("x").to_dict())

    def _written(self, lease: JSONObject) -> JSONObject:
        self.version += 1
        self.lease = copy.deepcopy(lease)
        self.lease["metadata"]["resourceVersion"] = str(self.version)
        return copy.deepcopy(self.lease)

    async def get(self, resource: Any, name: str, *, namespace: str = "") -> JSONObject:
        self._check("get")
        if self.lease is None:
            raise api_error({"reason": "NotFound", "code": 404})
        return copy.deepcopy(self.lease)

    async def create(self, resource: Any, subject: JSONObject) -> JSONObject:
        self._check("create")
        if self.lease is not None:
            raise api_error({"reason": "AlreadyExists", "code": 409})
        return self._written(subject)

    async def update(self, resource: Any, subject: JSONObject) -> JSONObject:
        self._check("update")
        if self.lease is None or subject["metadata"].get("resourceVersion") != str(self.version):
            raise api_error({"reason": "Conflict", "code": 409})
        return self._written(subject)

    @property
    def spec(self) -> JSONObject:
        assert self.lease is not None
        spec: JSONObject = self.lease["spec"]
        return spec


def elector(leases: Leases, clock: FakeClock, identity: str = "me", **options: Any) -> Any:
    chosen = LeaderElectionOptions("lock", identity, **options)
    return LeaderElector(leases, chosen, clock=clock, random=Random(1))  # type: ignore[arg-type]


async def forever() -> None:
    await asyncio.Event().wait()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_a_lease_that_is_not_there_is_created(clock: FakeClock) -> None:
    leases = Leases()
    made = elector(leases, clock)
    task = started(made.run(forever))
    await settle()
    assert made.is_leader
    assert leases.spec["holderIdentity"] == "me"
    assert leases.spec["leaseTransitions"] == 0
    assert leases.spec["leaseDurationSeconds"] == 15
    assert leases.spec["renewTime"].endswith("Z")
    await ended(task)

    assert not made.is_leader


async def test_another_waits_until_the_lease_was_not_renewed_for_its_time(
    clock: FakeClock,
) -> None:
    leases = Leases()
    first, second = elector(leases, clock, "one"), elector(leases, clock, "two")
    leading = started(first.run(forever))
    await settle()
    waiting = started(second.run(forever))
    await clock.advance(60)
    assert (first.is_leader, second.is_leader) == (True, False)
    await ended(leading)
    await clock.advance(13)
    assert not second.is_leader
    await clock.advance(6)
    assert second.is_leader
    assert leases.spec["leaseTransitions"] == 1
    await ended(waiting)


async def test_expiry_is_judged_by_the_own_clock_not_by_the_times_written(
    clock: FakeClock,
) -> None:
    leases = Leases()
    old = elector(leases, FakeClock(1_000.0), "other clock")
    task = started(old.run(forever))
    await settle()
    await ended(task)
    made = elector(leases, clock)
    task = started(made.run(forever))
    await clock.advance(14)
    assert not made.is_leader  # its times are decades old, but it was only just seen
    await clock.advance(5)
    assert made.is_leader
    await ended(task)


async def test_a_lease_without_a_holder_is_taken_at_once(clock: FakeClock) -> None:
    leases = Leases()
    first = elector(leases, clock, "one", release_on_cancel=True)
    task = started(first.run(forever))
    await settle()
    await ended(task)
    assert leases.spec["holderIdentity"] == ""
    assert leases.spec["leaseDurationSeconds"] == 1
    second = elector(leases, clock, "two")
    task = started(second.run(forever))
    await settle()

    assert second.is_leader
    await ended(task)


async def test_renewals_need_no_read_and_keep_the_time_of_acquisition(clock: FakeClock) -> None:
    leases = Leases()
    task = started(elector(leases, clock).run(forever))
    await settle()
    acquired = leases.spec["acquireTime"]
    await clock.advance(7)
    await ended(task)

    assert leases.calls == ["get", "create", "update", "update", "update"]
    assert leases.spec["acquireTime"] == acquired
    assert leases.spec["leaseTransitions"] == 0


async def test_a_quick_renewal_that_fails_is_done_the_long_way(clock: FakeClock) -> None:
    leases = Leases()
    made = elector(leases, clock)
    task = started(made.run(forever))
    await settle()
    answers = iter(["conflict"])
    leases.fail = lambda verb: next(answers, "") if verb == "update" else ""
    await clock.advance(2)
    await ended(task)

    assert leases.calls == ["get", "create", "update", "get", "update"]
    assert made.statistics().failures == 0


async def test_a_leader_that_cannot_renew_stops_its_work_and_gives_up(clock: FakeClock) -> None:
    leases, stopped = Leases(), []
    made, work_ended = elector(leases, clock), asyncio.Event()

    async def work() -> None:
        try:
            await forever()
        finally:
            work_ended.set()

    task = started(made.run(work, lambda: stopped.append(work_ended.is_set())))
    await settle()
    leases.fail = lambda _: "error"
    await clock.advance(11)
    assert made.is_leader
    assert made.is_healthy()
    await clock.advance(2)

    await asyncio.wait_for(task, 1)
    assert stopped == [True]
    assert made.statistics().failures > 3


async def test_the_stop_is_told_even_to_one_who_never_led(clock: FakeClock) -> None:
    leases, stopped = Leases(), []
    leases.fail = lambda _: "error"
    task = started(elector(leases, clock).run(forever, lambda: stopped.append(True)))
    await clock.advance(10)
    await ended(task)

    assert stopped == [True]


async def test_a_release_is_tried_again_on_a_conflict(clock: FakeClock) -> None:
    leases = Leases()
    task = started(elector(leases, clock, release_on_cancel=True).run(forever))
    await settle()
    answers = iter(["conflict", "conflict"])
    leases.fail = lambda verb: next(answers, "") if verb == "update" else ""
    await ended(task)

    assert leases.spec["holderIdentity"] == ""


async def test_work_that_ends_or_fails_ends_the_leadership(clock: FakeClock) -> None:
    async def fail() -> None:
        raise RuntimeError("work failed")

    made = elector(Leases(), clock)
    with pytest.raises(RuntimeError, match="work failed"):
        await made.run(fail)
    assert not made.is_leader


async def test_every_new_leader_is_told(clock: FakeClock) -> None:
    leases = Leases()
    told: list[str] = []
    one = elector(leases, clock, "one")
    task = started(one.run(forever))
    await settle()
    options = LeaderElectionOptions("lock", "two")
    two = LeaderElector(
        leases,  # type: ignore[arg-type]
        options,
        clock=clock,
        random=Random(2),
        on_new_leader=told.append,
    )
    other = started(two.run(forever))
    await clock.advance(5)
    await ended(task)
    await clock.advance(20)
    await ended(other)

    assert told == ["one", "two"]


async def test_an_unrenewed_leader_is_unhealthy(clock: FakeClock) -> None:
    made = elector(Leases(), clock)
    task = started(made.run(forever))
    await settle()
    clock.set(clock.now() + 20)
    assert not made.is_healthy()
    assert made.is_healthy(tolerance=10)
    await ended(task)

    assert made.is_healthy()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"lease_seconds": 10}, "greater than renew_deadline"),
        ({"renew_deadline": 2.4}, "greater than 1.2"),
        ({"retry_seconds": 0}, "greater than zero"),
        ({"lease_seconds": 0.9, "renew_deadline": 0.5, "retry_seconds": 0.1}, "one or more"),
        ({"identity": ""}, "its holder an identity"),
    ],
)
def test_what_cannot_work_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        LeaderElectionOptions(**{"name": "lock", "identity": "me", **options})
