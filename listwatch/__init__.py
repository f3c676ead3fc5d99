"""Kubernetes' list-watch on Django.

A write travels through the packages in this order, and each file's docstring ends with where its
result goes next: `api` -> `registry` -> `store` -> `changefeed` -> `watchcache` -> `api.watch`, and
on the client's side `informer`. docs/architecture.md draws it.
"""

from __future__ import annotations
