"""Faults on purpose: what happens to a watch on a bad day, for a set time, to whom one says.

Off unless the option `faults` is on: then `runtime.faults` is a `Faults`, else None, and nothing
here is loaded on the way of a watch. `api.watch` and the dashboard's attached watchers pass
through it; `api.faults` and the dashboard's page tell it what to do.
"""

from __future__ import annotations

from listwatch.faults.clients import ClientKey
from listwatch.faults.faults import Faults, FaultsStatistics
from listwatch.faults.kinds import FACTS, FaultType
from listwatch.faults.records import Fault, FaultSpec
from listwatch.faults.watches import CutError, FaultyWatch

__all__ = [
    "FACTS",
    "ClientKey",
    "CutError",
    "Fault",
    "FaultSpec",
    "FaultType",
    "Faults",
    "FaultsStatistics",
    "FaultyWatch",
]
