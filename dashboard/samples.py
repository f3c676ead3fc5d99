"""Made-up values for the patterns page, in the shapes of `frames`: nothing here is measured."""

from __future__ import annotations

from typing import Any

from dashboard.machinery.flows import journey_bar
from dashboard.objects import samples as objects

JSON = dict[str, Any]  # Any: JSON values

TYPES = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
INKS = (
    "ink",
    "ink-soft",
    "ink-faint",
    "accent",
    "added",
    "modified",
    "deleted",
    "bookmark",
    "error",
)
CHIPS = (
    ("connecting", "connecting"),
    ("live", "live"),
    ("reconnecting", "lost, again in 4 s"),
    ("signed-out", "signed out"),
    ("still", "still page"),
    ("paused", "paused"),
)


def everything(now: float) -> JSON:
    """What the patterns page shows."""
    return {
        "now": now, "types": TYPES, "inks": INKS, "chips": CHIPS,
        "figures": _figures(now), "resources": _resources(now), "watching": _watching(now),
        "ended": _ended(now), "slots": _slots(now), "journeys": _journeys(now), "ring": _ring(now),
        **objects.everything(now),
    }  # fmt: skip


def _figures(now: float) -> JSON:
    return {
        "applied": "18014398509481985", "behind": "caches are at head", "behind_is": "none",
        "objects": 6214, "watchers": 37, "lanes": 12, "rate": 41.0, "started_at": now - 4210,
    }  # fmt: skip


def _resources(now: float) -> list[JSON]:
    return [
        {"id": "pods", "resource": "pods", "url": "#", "objects": 6000, "revision": "48213",
         "rate": 38.0, "watchers": 21, "ring_size": 812, "ring_capacity": 1600,
         "ring_percent": 50.8,
         "oldest_at": now - 74, "quiet": "false"},
        {"id": "leases.coordination.k8s.io", "resource": "leases.coordination.k8s.io", "url": "#",
         "objects": 0, "revision": "", "rate": 0, "watchers": 0, "ring_size": 0,
         "ring_capacity": 100, "ring_percent": 0, "oldest_at": None, "quiet": "true"},
    ]  # fmt: skip


def _watcher(**values: Any) -> JSON:  # Any: any field of a row
    return {
        "id": "1", "client": "kubectl/v1.37.1", "agent": "kubectl/v1.37.1 (linux/amd64)",
        "user": "admin", "resource": "pods", "resource_url": "#", "namespace": "default",
        "selector": "-n default app=web", "delivered": "48213", "events": 1204, "bytes": 1_563_201,
        "lag": "none", "lag_events": 0, "lag_ms": 0, "lag_revisions": 0, **values,
    }  # fmt: skip


def _watching(now: float) -> list[JSON]:
    slow = {"client": "slow-operator/v0.3", "lag": "high", "lag_events": 312, "lag_ms": 4210.0}
    return [
        _watcher(since=now - 125),
        _watcher(id="2", client="kopf/1.38", selector="", lag="some", lag_events=2, lag_ms=1.8,
                 since=now - 36_000),
        _watcher(id="3", delivered="47901", selector="tier in (db,cache)", since=now - 500, **slow),
    ]  # fmt: skip


def _ended(now: float) -> list[JSON]:
    return [
        _watcher(ended_at=now - 12, end_reason="client left", end_kind="calm"),
        _watcher(id="2", ended_at=now - 95, end_reason="too slow", end_kind="bad"),
    ]


def _slots(now: float) -> list[JSON]:
    kinds = zip(TYPES[:3], ("48213", "48211", "48208"), (2.0, 31.0, 74.0), strict=True)
    return [
        {"id": revision, "revision": revision, "type": kind, "key": f"default/web-{index}",
         "at": now - age, "bytes": 1311 + index}
        for index, (kind, revision, age) in enumerate(kinds)
    ]  # fmt: skip


def _journeys(now: float) -> list[JSON]:
    return [
        {"id": "48213", "revision": "48213", "type": "MODIFIED", "key": "default/web-0",
         "at": now - 1, "resource": "pods", "resource_url": "#", "reached": 21,
         "names": "kubectl/v1.37.1, kopf/1.38 and 19 more", "storage_to_cache": 0.41,
         "cache_to_watcher": 1.2, "total": 1.61, **journey_bar(0.41, 1.2)},
        {"id": "48212", "revision": "48212", "type": "DELETED", "key": "default/web-7",
         "at": now - 3, "resource": "pods", "resource_url": "#", "reached": 2, "names": "kopf/1.38",
         "storage_to_cache": 0.52, "cache_to_watcher": 28.0, "total": 28.52,
         **journey_bar(0.52, 28.0)},
    ]  # fmt: skip


def _ring(now: float) -> JSON:
    buckets = [[(7 * i) % 3 == 0, 2 + i % 3, i % 11 == 0, 0] for i in range(52)]
    return {
        "per_bucket": 4, "capacity": 320, "size": 208, "bytes": 272_011, "oldest": "47988",
        "newest": "48213", "oldest_at": now - 74, "newest_at": now - 2,
        "buckets": [[int(each) for each in column] for column in buckets],
        "marks": [
            _mark(0, 1, "lost", "stalled-operator"),
            _mark(12, 1, "near", "slow-operator"),
            _mark(71, 2, "soon", "2 that left", of="resume"),
            _mark(131, 3, "soon", "kopf"),
            _mark(208, 17, "fine", "17 at the newest"),
        ],
        "zones": [
            {"from": 0, "size": 30, "is": "near"}, {"from": 30, "size": 110, "is": "soon"},
            {"from": 140, "size": 68, "is": "fine"},
        ],
        "summary": "The ring holds 208 of 320 events.",
    }  # fmt: skip


def _mark(at: int, count: int, kind: str, title: str, of: str = "watcher") -> JSON:
    label = str(count) if count > 1 else ""
    return {"at": at, "count": count, "label": label, "is": kind, "of": of, "title": title}
