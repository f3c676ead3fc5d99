"""A Lease object as the record of an election; written by `leader_election`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from listwatch.informer.errors import NotFoundError
from listwatch.informer.objects import JSONObject
from listwatch.informer.resources import LEASES
from listwatch.protocol.clock import parse_rfc3339

if TYPE_CHECKING:
    from listwatch.informer.client import Client


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """Who holds it; times are seconds since 1970 by the holder's clock, for people only."""

    holder: str
    lease_seconds: int
    acquired: float
    renewed: float
    transitions: int = 0
    raw: JSONObject = field(default_factory=dict, repr=False)  # the Lease this was read from

    def renewing(self, before: LeaseRecord) -> LeaseRecord:
        """The same holder goes on."""
        return replace(
            self, acquired=before.acquired, transitions=before.transitions, raw=before.raw
        )

    def succeeding(self, before: LeaseRecord) -> LeaseRecord:
        """This one holds it now, after another."""
        return replace(self, transitions=before.transitions + 1, raw=before.raw)

    def released(self, now: float) -> LeaseRecord:
        """Nobody holds it, and nobody needs to wait long."""
        return replace(self, holder="", lease_seconds=1, renewed=now, acquired=now)


class LeaseLock:
    """Reads and writes one Lease; what others wrote in it stays."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name

    async def get(self) -> LeaseRecord | None:
        """The record, None if there is no such Lease."""
        try:
            return _read(await self._client.get(LEASES, self._name, namespace=self._namespace))
        except NotFoundError:
            return None

    async def create(self, record: LeaseRecord) -> LeaseRecord:
        """Make the Lease; raises AlreadyExistsError."""
        metadata = {"name": self._name, "namespace": self._namespace}
        return _read(
            await self._client.create(LEASES, {"metadata": metadata, "spec": _spec(record)})
        )

    async def update(self, record: LeaseRecord) -> LeaseRecord:
        """Write over the Lease the record was read from; raises ConflictError."""
        raw = record.raw
        lease = {**raw, "spec": {**(raw.get("spec") or {}), **_spec(record)}}
        return _read(await self._client.update(LEASES, lease))


def _spec(record: LeaseRecord) -> JSONObject:
    return {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.lease_seconds,
        "acquireTime": _micro_time(record.acquired),
        "renewTime": _micro_time(record.renewed),
        "leaseTransitions": record.transitions,
    }


def _read(lease: JSONObject) -> LeaseRecord:
    spec = lease.get("spec") or {}
    return LeaseRecord(
        str(spec.get("holderIdentity") or ""),
        int(spec.get("leaseDurationSeconds") or 0),
        _seconds(spec.get("acquireTime")),
        _seconds(spec.get("renewTime")),
        int(spec.get("leaseTransitions") or 0),
        lease,
    )


def _micro_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _seconds(text: str | None) -> float:
    return parse_rfc3339(text) if text else 0.0
