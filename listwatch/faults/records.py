"""One fault: what was asked for, read with care, and what has become of it.

`faults` keeps the records; `to_dict` is what the API answers and the dashboard shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from listwatch.faults.kinds import FACTS, FaultType
from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import Cause, StatusError, invalid
from listwatch.protocol.kinds import GroupVersionKind

if TYPE_CHECKING:
    from listwatch.faults.clients import ClientKey
    from listwatch.protocol.clock import Timer

JSON = dict[str, Any]  # Any: JSON values

GVK = GroupVersionKind("debug.listwatch.dev", "v1", "Fault")
LONGEST = 600  # seconds that a fault lasts at most: nobody shall forget one
SECONDS = 30  # unless told otherwise
FORMS = ("event", "http")
CLIENTS = 10_000  # clients counted a fault; beyond, all count as one

# name: (default, least, most)
_NUMBERS = {
    "seconds": (SECONDS, 1, LONGEST),
    "times": (0, 0, 1000),
    "delayMilliseconds": (500, 1, 60_000),
    "retryAfterSeconds": (1, 1, 600),
}
_FIELDS = ("type", "form", "resource", "watcher", *_NUMBERS)


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """What shall happen, to whom, and for how long. Made by `read`, which checks it."""

    type: FaultType
    form: str = "event"  # of `expired`: an ERROR event, or the HTTP answer
    seconds: int = SECONDS
    times: int = 0  # hits a client at most; 0: as long as it lasts
    delay_milliseconds: int = 500
    retry_after_seconds: int = 1
    resource: str = ""  # `pods`, `deployments.apps`; '' for all
    watcher: int = 0  # the number of an open watch; 0 for all

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> FaultSpec:
        """Read `{"spec": {...}}`; raises 422 with a cause for each field that is wrong."""
        spec = document.get("spec")
        if not isinstance(spec, dict):
            raise _refused(Cause("FieldValueRequired", "Required value", "spec"))
        causes = [
            Cause("FieldValueInvalid", f'unknown field "spec.{name}"', f"spec.{name}")
            for name in spec
            if name not in _FIELDS
        ]
        kind = _type(spec.get("type"), causes)
        numbers = {name: _number(spec, name, kind, causes) for name in _NUMBERS}
        form = spec.get("form") or "event"
        if form not in FORMS:
            causes.append(_unsupported("form", form, FORMS))
        resource = spec.get("resource") or ""
        if not isinstance(resource, str):
            causes.append(_invalid("resource", resource, "must be a string such as pods"))
        watcher = _watcher(spec.get("watcher"), causes)
        if kind is not None and FACTS[kind].everywhere and (resource or watcher):
            name = "resource" if resource else "watcher"
            causes.append(_invalid(name, spec[name], f"{kind} cannot be narrowed"))
        if causes or kind is None:
            raise _refused(*causes)
        return cls(
            kind, form, numbers["seconds"], numbers["times"], numbers["delayMilliseconds"],
            numbers["retryAfterSeconds"], resource, watcher,
        )  # fmt: skip

    def to_dict(self) -> JSON:
        """As `read` takes it; only what matters to this type."""
        spec: JSON = {"type": str(self.type)}
        if not FACTS[self.type].at_once:
            spec |= {"seconds": self.seconds, "times": self.times}
        match self.type:
            case FaultType.EXPIRED:
                spec["form"] = self.form
            case FaultType.DELAY:
                spec["delayMilliseconds"] = self.delay_milliseconds
            case FaultType.TOO_MANY_REQUESTS:
                spec["retryAfterSeconds"] = self.retry_after_seconds
        if self.resource:
            spec["resource"] = self.resource
        if self.watcher:
            spec["watcher"] = self.watcher
        return spec

    @property
    def reach(self) -> str:
        """Whom it hits, in words."""
        if FACTS[self.type].everywhere:
            return "the whole server"
        if self.watcher:
            return f"watcher {self.watcher}"
        return f"watches of {self.resource}" if self.resource else "all watches"


@dataclass(slots=True)
class Fault:
    """A fault that is on, or was. Owned by `faults`; others read it."""

    number: int
    spec: FaultSpec
    by: str  # who asked for it
    began_at: float  # wall time
    until: float  # wall time
    client: ClientKey | None = None  # of `spec.watcher`
    ended_at: float | None = None
    ended_by: str = ""
    outcome: str = ""  # of what is done at once
    hits: int = 0
    hits_by_client: dict[ClientKey, int] = field(default_factory=dict)
    shares: Counter[ClientKey] = field(default_factory=Counter)  # equal watches that were open
    timer: Timer | None = None

    def concerns(self, client: ClientKey) -> bool:
        """Whether it is meant for this client."""
        if self.client is not None:
            return client == self.client
        return self.spec.resource in ("", str(client.group_resource))

    def may_hit(self, client: ClientKey) -> bool:
        """Whether this client has not had its share yet."""
        times = self.spec.times * max(self.shares[client], 1)
        return not times or self.hits_by_client.get(client, 0) < times

    def hit(self, client: ClientKey) -> None:
        """Count one."""
        self.hits += 1
        if client in self.hits_by_client or len(self.hits_by_client) < CLIENTS:
            self.hits_by_client[client] = self.hits_by_client.get(client, 0) + 1

    def to_dict(self) -> JSON:
        """The Fault object."""
        status: JSON = {
            "phase": "Active" if self.ended_at is None else "Ended",
            "hits": self.hits,
            "expirationTimestamp": rfc3339(self.until),
        }
        if self.ended_at is not None:
            status |= {"endTimestamp": rfc3339(self.ended_at), "reason": self.ended_by}
        if self.outcome:
            status["message"] = self.outcome
        return {
            "kind": GVK.kind,
            "apiVersion": GVK.api_version,
            "metadata": {
                "name": str(self.number),
                "creationTimestamp": rfc3339(self.began_at),
            },
            "spec": self.spec.to_dict(),
            "status": status,
        }


def _type(value: Any, causes: list[Cause]) -> FaultType | None:  # Any: a JSON value
    if value in (None, ""):
        causes.append(Cause("FieldValueRequired", "Required value", "spec.type"))
        return None
    try:
        return FaultType(value)
    except ValueError:
        causes.append(_unsupported("type", value, tuple(FaultType)))
        return None


def _number(spec: JSON, name: str, kind: FaultType | None, causes: list[Cause]) -> int:
    default, least, most = _NUMBERS[name]
    if name == "times" and kind is not None:
        default = FACTS[kind].times
    value = spec.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        causes.append(_invalid(name, value, f"must be an integer from {least} to {most}"))
        return default
    return value


def _watcher(value: Any, causes: list[Cause]) -> int:  # Any: a JSON value
    if value in (None, "", 0):
        return 0
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        causes.append(_invalid("watcher", value, "must be the number of an open watch"))
        return 0
    return value


def _invalid(name: str, value: Any, why: str) -> Cause:  # Any: a JSON value
    shown = f'"{value}"' if isinstance(value, str) else value
    return Cause("FieldValueInvalid", f"Invalid value: {shown}: {why}", f"spec.{name}")


def _unsupported(name: str, value: Any, known: tuple[str, ...]) -> Cause:  # Any: a JSON value
    names = ", ".join(f'"{each}"' for each in known)
    message = f'Unsupported value: "{value}": supported values: {names}'
    return Cause("FieldValueNotSupported", message, f"spec.{name}")


def _refused(*causes: Cause) -> StatusError:
    return invalid(GVK, "", causes)
