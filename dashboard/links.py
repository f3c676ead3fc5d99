"""Addresses: of the socket, and of the pages of one resource, ring, watch or event."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from django.urls import reverse

if TYPE_CHECKING:
    from listwatch.protocol.kinds import GroupResource


SOCKET_PATH = "/dashboard/socket/"


@lru_cache(maxsize=1024)
def resource_url(group_resource: GroupResource) -> str:
    """The page of a resource."""
    return reverse("dashboard:resource", args=[str(group_resource)])


@lru_cache(maxsize=1024)
def ring_url(group_resource: GroupResource) -> str:
    """The map of a resource's ring."""
    return reverse("dashboard:ring", args=[str(group_resource)])


def watcher_url(number: int) -> str:
    """The page of one watch."""
    return f"{_base('watcher')}{number}/"


def event_url(revision: int) -> str:
    """The page of one event."""
    return f"{_base('event')}{revision}/"


@lru_cache(maxsize=8)
def _base(name: str) -> str:
    # Resolving a name costs more than a row of a table may.
    return reverse(f"dashboard:{name}", args=[0]).removesuffix("0/")
