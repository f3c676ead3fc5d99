"""Faults of paths that have to stay below where they start.

Upstream: pkg/apis/core/validation/validation.go. Used by `volumes`, `references` and others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.schemas.validation.faults import invalid

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause


def descending_path_faults(path: str, field: str) -> list[Cause]:
    """Faults of a path that leads down from where it starts, and nowhere else."""
    faults = []
    if path.startswith("/"):
        faults.append(invalid(field, path, "must be a relative path"))
    return faults + backstep_faults(path, field)


def backstep_faults(path: str, field: str) -> list[Cause]:
    """Faults of a path that goes back up."""
    return [invalid(field, path, "must not contain '..'")] if ".." in path.split("/") else []
