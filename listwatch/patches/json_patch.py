"""JSON patches (RFC 6902): operations one after the other, all of them or none.

The result goes back to `registry`, which defaults and validates it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import jsonpatch
import jsonpointer
import orjson

from listwatch.patches.faults import (
    RejectedPatchError,
    not_decoded,
    refuses_deep_nesting,
    too_many_operations,
    type_of,
    unusable_result,
)
from listwatch.protocol.errors import bad_request

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

_OPERATION = "handlers.jsonPatchOp"  # the type that the original reads one into
MAX_OPERATIONS = 10_000  # kube-apiserver's; each one may walk the whole document
COPY_BUDGET = 3 * 1024 * 1024  # bytes that `copy` may add: thirty doublings fill any memory


@refuses_deep_nesting
def apply(document: JSONObject, patch: Any) -> JSONObject:  # Any: JSON as it came
    """The patched document; the arguments stay as they are.

    Raises StatusError: 400 for what is no array of objects, 413 for too many operations, 422
    (RejectedPatchError, with an explanation) for an operation or a test that fails.
    """
    if patch is None:
        patch = []  # as Go reads it
    if not isinstance(patch, list):
        raise bad_request(f"error decoding patch: {not_decoded(patch, f'[]{_OPERATION}')}")
    for operation in patch:
        if not isinstance(operation, dict):
            raise bad_request(f"error decoding patch: {not_decoded(operation, _OPERATION)}")
    if len(patch) > MAX_OPERATIONS:
        raise too_many_operations(MAX_OPERATIONS, len(patch))
    try:
        result = _Patch(patch).apply(document)
    except jsonpatch.JsonPatchTestFailed as fault:
        raise RejectedPatchError(f"{_shown(fault)}the value there is another") from fault
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as fault:
        raise RejectedPatchError(f"{_shown(fault)}{fault}") from fault
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as fault:
        # The library guards its own walks, but operations are what anybody cares to send.
        raise RejectedPatchError(f"an operation cannot be applied: {fault}") from fault
    if not isinstance(result, dict):
        raise unusable_result(f"the patched object is {type_of(result)}")
    return result


class _Patch(jsonpatch.JsonPatch):
    """A patch whose copies share one budget."""

    def __init__(self, patch: list[JSONObject]) -> None:
        budget = [COPY_BUDGET]
        known = {**jsonpatch.JsonPatch.operations, "copy": partial(_Copy, budget=budget)}
        vars(self)["operations"] = known  # of this patch, not of the class
        super().__init__(patch)


class _Copy(jsonpatch.CopyOperation):
    """A copy that is paid for, in bytes of JSON, before it is made."""

    def __init__(self, operation: JSONObject, budget: list[int], **options: Any) -> None:
        super().__init__(operation, **options)
        self._budget = budget

    def apply(self, obj: Any) -> Any:  # Any: JSON values
        source = self.operation.get("from")
        if isinstance(source, str):
            value = jsonpointer.resolve_pointer(obj, source, None)
            if isinstance(value, str | list | dict):
                self._budget[0] -= len(orjson.dumps(value))
            if self._budget[0] < 0:
                raise jsonpatch.JsonPatchConflict(
                    f"Unable to complete the copy, the accumulated size increase of copy exceeds "
                    f"the limit {COPY_BUDGET}",
                    op=self,
                )
        return super().apply(obj)


def _shown(fault: Exception) -> str:
    """The operation that failed, for a message; '' where the library does not tell."""
    operation = getattr(fault, "op", None)
    operation = getattr(operation, "operation", operation)
    if not isinstance(operation, Mapping):
        return ""
    return f"{operation.get('op')} {operation.get('path')}: "
