"""Faults of the topologies that volumes of a StorageClass may be in.

Upstream: validateAllowedTopologies in pkg/apis/storage/validation. The caller is `storage`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import qualified_name_faults
from listwatch.schemas.validation.faults import duplicate, invalid, required

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject


def topologies_faults(topologies: list[JSONObject], field: str) -> list[Cause]:
    """Faults of a list of terms, of which each says something else than those before it."""
    faults: list[Cause] = []
    # Upstream begins with as many empty terms, so an empty one is always told of as a duplicate.
    seen: list[dict[str, set[str]]] = [{} for _ in topologies]
    for index, term in enumerate(topologies):
        where = f"{field}[{index}].matchLabelExpressions"
        keys: dict[str, set[str]] = {}
        for place, requirement in enumerate(term.get("matchLabelExpressions") or ()):
            key, values = requirement.get("key") or "", requirement.get("values") or []
            faults += _requirement_faults(key, values, f"{where}[{place}]")
            if key in keys:
                faults.append(duplicate(f"{where}[{place}].key", key))
            keys[key] = set(values)
        faults += [duplicate(where, "") for before in seen if before == keys]
        seen.append(keys)
    return faults


def _requirement_faults(key: str, values: list[str], field: str) -> list[Cause]:
    faults = [] if values else [required(f"{field}.values")]
    faults += [
        duplicate(f"{field}.values[{place}]", value)
        for place, value in enumerate(values)
        if value in values[:place]
    ]
    return faults + [invalid(f"{field}.key", key, why) for why in qualified_name_faults(key)]
