"""Faults of the taints that a pod tolerates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_value_faults, qualified_name_faults
from listwatch.schemas.validation.faults import invalid, not_supported

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")


def toleration_faults(tolerations: list[JSONObject], field: str) -> list[Cause]:
    """Faults of a list of tolerations."""
    faults: list[Cause] = []
    for index, toleration in enumerate(tolerations):
        where = f"{field}[{index}]"
        key, operator = toleration.get("key", ""), toleration.get("operator", "")
        value, effect = toleration.get("value", ""), toleration.get("effect", "")
        if key:
            faults += [invalid(f"{where}.key", key, why) for why in qualified_name_faults(key)]
        elif operator != "Exists":
            why = (
                "operator must be Exists when `key` is empty, which means "
                '"match all values and all keys"'
            )
            faults.append(invalid(f"{where}.operator", operator, why))
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            faults.append(invalid(f"{where}.effect", effect, why))
        if operator == "Exists":
            if value:
                why = "value must be empty when `operator` is 'Exists'"
                faults.append(invalid(f"{where}.operator", value, why))
        elif operator not in ("Equal", ""):
            faults.append(not_supported(f"{where}.operator", operator, _OPERATORS))
        else:
            faults += [invalid(f"{where}.operator", value, w) for w in label_value_faults(value)]
        if effect and effect not in EFFECTS:
            faults.append(not_supported(f"{where}.effect", effect, EFFECTS))
    return faults
