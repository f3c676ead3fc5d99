"""Kubernetes' list-watch on Django.

A write travels through the packages in this order, and docstrings end with where a result goes
next: `serving` (socket, TLS) -> `api` -> `registry` -> `store` -> `changefeed` -> `watchcache` ->
`api.watch`; from there to the `informer` of a client, and for people to the dashboard.
docs/architecture.md draws it.
"""

from __future__ import annotations
