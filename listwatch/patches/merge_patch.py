"""JSON merge patches (RFC 7386): what is null goes, objects merge, all else is taken as it is.

The result goes back to `registry`, which defaults and validates it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.patches.faults import not_decoded, refuses_deep_nesting
from listwatch.protocol.errors import bad_request

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject


@refuses_deep_nesting
def apply(document: JSONObject, patch: Any) -> JSONObject:  # Any: JSON as it came
    """The patched document; it may share parts with both arguments, which stay as they are.

    Raises StatusError 400 for a patch that is no object.
    """
    if not isinstance(patch, dict):
        if patch is None:
            raise bad_request("Invalid JSON Patch")
        why = not_decoded(patch, "map[string]interface {}")
        raise bad_request(f"error decoding patch: {why}")
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
