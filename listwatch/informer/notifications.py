"""What waits to be told to one handler, and how two of the same object become one.

Made by `delta_consumer`, queued by `listener`.
"""

from __future__ import annotations

from typing import NamedTuple

from listwatch.informer.objects import Deleted, JSONObject


class Added(NamedTuple):
    """An object is there."""

    key: str
    object: JSONObject
    initial: bool


class Updated(NamedTuple):
    """An object changed, or is told of once more."""

    key: str
    old: JSONObject
    new: JSONObject


class Removed(NamedTuple):
    """An object is gone."""

    key: str
    gone: Deleted


Notification = Added | Updated | Removed


def coalesced(pending: Notification, new: Notification) -> list[Notification]:
    """What two notifications of one object, neither told yet, amount to.

    An add of the first list stays even if the object is gone: the handler's sync waits for it.
    """
    match pending, new:
        case Added(key, _, initial), Updated(_, _, latest):
            return [Added(key, latest, initial)]
        case Updated(key, old, _), Updated(_, _, latest):
            return [Updated(key, old, latest)]
        case Added(_, _, False), Removed():
            return []
        case Updated(), Removed():
            return [new]
        case _:
            return [pending, new]
