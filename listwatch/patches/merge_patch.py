"""JSON merge patches (RFC 7386): what is null goes, objects merge, all else is taken as it is.

The result goes back to `registry`, which defaults and validates it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.patches.faults import refuses_deep_nesting, type_of
from listwatch.protocol.errors import bad_request

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject


@refuses_deep_nesting
def apply(document: JSONObject, patch: Any) -> JSONObject:  # Any: JSON as it came
    """The patched document; it may share parts with both arguments, which stay as they are.

    Raises StatusError 400 for a patch that is no object.
    """
    if not isinstance(patch, dict):
        raise bad_request(f"Invalid JSON Patch: a merge patch is an object, not {type_of(patch)}")
    return _merged(document, patch)


def _merged(target: Any, patch: JSONObject) -> JSONObject:
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = _merged(result.get(key), value)
        else:
            result[key] = value
    return result
