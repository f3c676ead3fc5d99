"""What can be written, and how a write can be refused. Values only; `transactions` does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import Encoded, key_of

if TYPE_CHECKING:
    from listwatch.store.transactions import Transaction

# Runs inside the transaction before the write, with the log locked: what it reads still holds at
# the instant of the write. Raises to refuse. It may run twice: must not leave traces elsewhere.
# It writes through the log, if at all: what else it did is taken back only if it raises itself.
Guard = Callable[["Transaction"], None]


class Stored(NamedTuple):
    """The newest state of one object."""

    group_resource: GroupResource
    namespace: str
    name: str
    uid: str
    revision: int
    encoded: Encoded


@dataclass(frozen=True, slots=True)
class Create:
    """Store a new object; refused by AlreadyStored."""

    group_resource: GroupResource
    namespace: str
    name: str
    uid: str
    encoded: Encoded
    guard: Guard | None = None

    def __post_init__(self) -> None:
        # Keys are read as directories (`ns/` never matches `ns2/`), so a slash would move an
        # object into another namespace; PostgreSQL stores no NUL.
        if not self.name or "/" in self.name + self.namespace or "\0" in self.name + self.namespace:
            raise ValueError(f"no object can have the key {key_of(self.namespace, self.name)!r}")


@dataclass(frozen=True, slots=True)
class Update:
    """Store a new state over the one with the expected revision.

    Refused by RevisionMoved, or by NotStored.
    """

    group_resource: GroupResource
    namespace: str
    name: str
    expected: int
    encoded: Encoded
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove the object with the expected revision; `encoded` is the last state, for the log.

    Refused by RevisionMoved, or by NotStored.
    """

    group_resource: GroupResource
    namespace: str
    name: str
    expected: int
    encoded: Encoded
    guard: Guard | None = None


Operation = Create | Update | Delete


class WriteConflict(Exception):  # noqa: N818 (what happened, not what went wrong)
    """The store is not as the operation expects; nothing was written."""


class AlreadyStored(WriteConflict):
    """An object of this key is there already."""

    def __init__(self, stored: Stored) -> None:
        super().__init__(f"{stored.group_resource} {key_of(stored.namespace, stored.name)}")
        self.stored = stored


class NotStored(WriteConflict):
    """There is no object of this key."""


class RevisionMoved(WriteConflict):
    """The object has been written since the expected revision; `current` is what it is now."""

    def __init__(self, current: Stored) -> None:
        super().__init__(
            f"{current.group_resource} {key_of(current.namespace, current.name)}"
            f" is at {current.revision}"
        )
        self.current = current


class StoreUnavailable(Exception):  # noqa: N818 (a state, not an error of the caller's)
    """The database did not carry out the transaction. Nothing is known to have been written.

    `__cause__` is what it said.
    """
