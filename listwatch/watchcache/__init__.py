"""The heart: every current object, the ring of recent events, and the watchers that follow it.

One Cacher a resource. Pure asyncio, no Django, no database: history older than the ring is asked
of a `HistoryReader` that it is given. Fed by `changefeed` alone, one event after another without an
await; read by `registry` and `api`; `api.watch` takes each watcher's chunks to its socket.

The way of an event through here: `caches` -> `cacher` -> `versions` and `ring` -> `lanes` (found by
`lane_index`, judged by `verdicts`) -> `lane` -> `flushing` (releases, wakes, as often as `pace`
lets it) -> `watcher` -> chunk.
"""

from __future__ import annotations
