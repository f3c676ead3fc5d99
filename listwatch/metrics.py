"""The numbers of one server as Prometheus text, under upstream's names where upstream has one.

A pure function of the statistics of every part, so that a scrape costs nothing in between; the
text goes to `api.metrics`. Names that begin with `listwatch_` are our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from listwatch.protocol.events import EndReason
from listwatch.protocol.kinds import GroupResource
from listwatch.store.compaction import CompactionStatistics
from listwatch.store.group_commit import CommitStatistics
from listwatch.watchcache.statistics import CacherStatistics

Of = Callable[[CacherStatistics], float]


class PumpNumbers(Protocol):
    """The fields of `changefeed.pump.PumpStatistics` that are told here: a sibling of this file."""

    @property
    def direct(self) -> int: ...
    @property
    def from_log(self) -> int: ...
    @property
    def gaps(self) -> int: ...
    @property
    def refills(self) -> int: ...
    @property
    def errors(self) -> int: ...


class Statistics(Protocol):
    """The fields of `runtime.RuntimeStatistics` that are told here."""

    @property
    def started_at(self) -> float: ...
    @property
    def head(self) -> int: ...
    @property
    def applied(self) -> int: ...
    @property
    def pump(self) -> PumpNumbers: ...
    @property
    def commits(self) -> CommitStatistics: ...
    @property
    def compaction(self) -> CompactionStatistics: ...
    @property
    def cachers(self) -> Mapping[str, CacherStatistics]: ...


# One line a metric of each resource: name, help, and where the number stands.
_GAUGES: tuple[tuple[str, str, Of], ...] = (
    ("apiserver_watch_cache_capacity", "Events that the ring may hold now.",
     lambda s: s.ring.capacity),
    ("apiserver_watch_cache_resource_version", "The revision that the cache is at.",
     lambda s: s.applied),
    ("apiserver_resource_objects", "Objects of a resource.", lambda s: s.objects),
    ("apiserver_longrunning_requests", "Open watches.", lambda s: s.watchers),
    ("listwatch_ring_events", "Events in the ring.", lambda s: s.ring.events),
    ("listwatch_ring_bytes", "Bodies of the events in the ring, in bytes.",
     lambda s: s.ring.bytes),
    ("listwatch_ring_oldest_revision", "The oldest revision that a watch can start from in memory.",
     lambda s: s.ring.floor),
    ("listwatch_lanes", "Distinct watch streams that are made.", lambda s: s.lanes),
    ("listwatch_selectors", "Distinct selectors that events are held against.",
     lambda s: s.selectors),
)  # fmt: skip
_COUNTERS: tuple[tuple[str, str, Of], ...] = (
    ("apiserver_watch_cache_events_received", "Events that reached the cache.",
     lambda s: s.received),
    ("apiserver_watch_cache_events_dispatched", "Events that were offered to the watches.",
     lambda s: s.received),
    ("apiserver_watch_events", "Frames that were delivered.", lambda s: s.delivered_frames),
    ("listwatch_watch_delivered_bytes", "Bytes that were delivered.",
     lambda s: s.delivered_bytes),
    ("listwatch_selector_evaluations", "Selectors held against an event.",
     lambda s: s.evaluations),
    ("listwatch_encodings", "Frames that were made; each may be delivered many times.",
     lambda s: s.encodings),
    ("listwatch_index_spared", "Streams that an event did not have to ask.",
     lambda s: s.index_spared),
    ("apiserver_cache_list", "Lists answered from the cache.", lambda s: s.lists),
    ("listwatch_lists_from_log", "Lists answered from the log.", lambda s: s.lists_from_log),
    ("listwatch_watches_from_log", "Watches that began below the ring.",
     lambda s: s.watches_from_log),
    ("listwatch_watch_too_old", "Watches refused because nothing holds their revision.",
     lambda s: s.too_old),
)  # fmt: skip
# Ends that were not the client's wish: what upstream counts as terminated.
_TERMINATED = frozenset({EndReason.TOO_SLOW, EndReason.HISTORY_LOST, EndReason.FAILED})


class StatisticsCollector:
    """Hands the statistics of one moment to prometheus_client."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics

    def describe(self) -> Iterable[Metric]:
        """Nothing: names are unique by construction."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """All metrics."""
        yield from _of_resources(self._statistics.cachers.values())
        yield from _of_parts(self._statistics)


def render(statistics: Statistics) -> str:
    """The text of one scrape."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(StatisticsCollector(statistics))
    return generate_latest(registry).decode()


def _of_resources(cachers: Iterable[CacherStatistics]) -> Iterator[Metric]:
    rows = [(_labels(each.group_resource), each) for each in cachers]
    for name, text, of in _GAUGES:
        gauge = GaugeMetricFamily(name, text, labels=("group", "resource"))
        for labels, each in rows:
            gauge.add_metric(labels, of(each))
        yield gauge
    for name, text, of in _COUNTERS:
        counter = CounterMetricFamily(name, text, labels=("group", "resource"))
        for labels, each in rows:
            counter.add_metric(labels, of(each))
        yield counter
    ended = CounterMetricFamily(
        "listwatch_watches_ended", "Watches by how they ended.", labels=("group", "resource", "by")
    )
    terminated = CounterMetricFamily(
        "apiserver_terminated_watchers", "Watches that were cut.", labels=("group", "resource")
    )
    for labels, each in rows:
        terminated.add_metric(labels, sum(each.ends.get(reason, 0) for reason in _TERMINATED))
        for reason, count in each.ends.items():
            ended.add_metric([*labels, str(reason)], count)
    yield ended
    yield terminated


def _of_parts(statistics: Statistics) -> Iterator[Metric]:
    pump, commits, compaction = statistics.pump, statistics.commits, statistics.compaction

    def gauge(name: str, text: str, value: float) -> Metric:
        return GaugeMetricFamily(name, text, value=value)

    def counter(name: str, text: str, value: float) -> Metric:
        return CounterMetricFamily(name, text, value=value)

    yield gauge("process_start_time_seconds", "Start, since 1970.", statistics.started_at)
    yield gauge("listwatch_head_revision", "The newest revision known.", statistics.head)
    yield gauge("listwatch_applied_revision", "The caches' revision.", statistics.applied)
    yield gauge("listwatch_compacted_revision", "The oldest readable one.", compaction.compacted)
    yield counter("listwatch_pump_direct", "Changes the signal handed over.", pump.direct)
    yield counter("listwatch_pump_from_log", "Changes read from the log.", pump.from_log)
    yield counter("listwatch_pump_gaps", "Signals that ran ahead.", pump.gaps)
    yield counter("listwatch_pump_refills", "Caches read anew.", pump.refills)
    yield counter("listwatch_pump_errors", "Failed readings of the log.", pump.errors)
    yield counter("listwatch_commit_groups", "Transactions committed.", commits.groups)
    yield counter("listwatch_commit_writes", "Writes in them.", commits.writes)
    yield counter("listwatch_commit_conflicts", "Writes refused by another.", commits.conflicts)
    yield counter("listwatch_commit_failures", "Writes lost with a commit.", commits.failures)
    yield counter("listwatch_commit_seconds", "Time in COMMIT.", commits.commit_seconds)
    yield gauge("listwatch_commit_waiting", "Writes not begun yet.", commits.waiting)
    yield counter("listwatch_compaction_rows", "Changes taken away.", compaction.rows)


def _labels(group_resource: GroupResource) -> list[Any]:  # Any: prometheus_client wants a list
    return [group_resource.group, group_resource.resource]
