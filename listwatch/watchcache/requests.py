"""What is asked of a Cacher, and what a list answers.

Made by `registry` from the options of a request; the answers are written by `api`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from listwatch.protocol.representations import Representation
from listwatch.protocol.selectors import EVERYTHING, Selector
from listwatch.protocol.versions import Version


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Which objects, from which key on, and how many.

    '' stands for all namespaces, any name, from the first key; 0 for no limit. `start_key` is a
    whole key (`namespace/name`) and inclusive: to go on behind an object, its key and a NUL.
    """

    namespace: str = ""
    name: str = ""
    selector: Selector = EVERYTHING
    start_key: str = ""
    limit: int = 0


def scope(namespace: str, name: str, selector: Selector) -> tuple[str, str]:
    """Namespace and name that all wanted objects have; '' where the request leaves it open.

    A field selector may pin them as well as the path; where the two contradict each other, the
    path decides here and the selector then matches nothing.
    """
    fields = selector.fields
    if not fields.empty:
        namespace = namespace or fields.requires("metadata.namespace") or ""
        name = name or fields.requires("metadata.name") or ""
    return namespace, name


class ListResult(NamedTuple):
    """Objects in key order, as they stood at `revision`.

    `next_key` is the `start_key` of the next page (the key of the last object here and a NUL), or
    None if nothing follows. `remaining` counts what follows; None if nothing does, or if there
    was a selector.
    """

    versions: Sequence[Version]
    revision: int
    next_key: str | None = None
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """Who watches, for people: user agent, user name, network address."""

    agent: str = ""
    user: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """Which events, from which revision on, and how they are written.

    `revision` None is now. With `initial_events` the stream begins with the state, not older than
    `revision`; without, with the first event after it. `timeout` None is no deadline.
    """

    representation: Representation
    namespace: str = ""
    name: str = ""
    selector: Selector = EVERYTHING
    revision: int | None = None
    initial_events: bool = False
    bookmarks: bool = False
    timeout: float | None = None
    client: ClientInfo = field(default_factory=ClientInfo)
