"""Conditions in a status: found, set, and left alone when nothing of them changed.

Every status that `controllers` write has its conditions from here.
"""

from __future__ import annotations

from collections.abc import Iterable

from listwatch.protocol.objects import JSONObject

Conditions = list[JSONObject]
# For messages that are new each time: writing them would be a reason to look again at once.
WITHOUT_MESSAGE = ("status", "reason")


def find(conditions: Iterable[JSONObject] | None, kind: str) -> JSONObject | None:
    """The condition of this type."""
    for condition in conditions or ():
        if condition.get("type") == kind:
            return condition
    return None


def is_true(conditions: Iterable[JSONObject] | None, kind: str) -> bool:
    """Whether the condition of this type is there and `True`."""
    condition = find(conditions, kind)
    return condition is not None and condition.get("status") == "True"


def condition(kind: str, status: bool, reason: str, message: str) -> JSONObject:
    """A condition without its times; `put` sets them."""
    return {
        "type": kind,
        "status": "True" if status else "False",
        "reason": reason,
        "message": message,
    }


def put(
    conditions: Conditions,
    new: JSONObject,
    now: str,
    *,
    updated: bool = False,
    compared: tuple[str, ...] = ("status", "reason", "message"),
) -> Conditions:
    """The conditions with this one; the time of its last transition moves with its status only.

    `updated` keeps lastUpdateTime as well, as conditions of deployments have it. One that is equal
    in what is `compared` stays as it is.
    """
    old = find(conditions, new["type"])
    if old is not None and all(old.get(key) == new[key] for key in compared):
        return conditions
    times = {"lastUpdateTime": now} if updated else {}
    moved = old is None or old.get("status") != new["status"]
    times["lastTransitionTime"] = now if moved or old is None else old["lastTransitionTime"]
    made = {**new, **times}
    if old is None:
        return [*conditions, made]
    return [made if each is old else each for each in conditions]


def without(conditions: Conditions, kind: str) -> Conditions:
    """The conditions but the one of this type."""
    return [each for each in conditions if each.get("type") != kind]
