"""What is said of patches that cannot be applied, in kube-apiserver's forms.

Every function makes a StatusError; `registry` lets it through to `api`.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from listwatch.protocol.errors import Cause, StatusError, bad_request, go_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.objects import JSONObject

_P = ParamSpec("_P")
_T = TypeVar("_T")


class RejectedPatchError(StatusError):
    """422 in the one sentence that clients know; `explanation` says what was wrong.

    The real server's Status has empty details and nothing more, so the explanation is kept beside
    it: worth a Warning header.
    """

    def __init__(self, explanation: str) -> None:
        super().__init__(
            422, "Invalid", "the server rejected our request due to an error in our request"
        )
        self.explanation = explanation

    def to_dict(self) -> JSONObject:
        """The Status, its details empty but there."""
        status = super().to_dict()
        code = status.pop("code")
        return {**status, "details": {}, "code": code}


def unusable_result(why: str) -> StatusError:
    """422 for a patch whose result has values of wrong types; `why` names the field."""
    message = f'Invalid value: "": {why}'
    return StatusError(
        422,
        "Invalid",
        f' "" is invalid: patch: {message}',
        causes=(Cause("FieldValueInvalid", message, "patch"),),
    )


def too_many_operations(limit: int, given: int) -> StatusError:
    """413 for a JSON patch of more operations than one request may have."""
    return StatusError(
        413,
        "RequestEntityTooLarge",
        f"Request entity too large: The allowed maximum operations in a JSON patch is {limit}, "
        f"got {given}",
    )


def refuses_deep_nesting(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Turn the end of Python's stack into 400: a patch may be nested deeper than it reaches."""

    @wraps(function)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            raise bad_request("the patch or the object is nested too deeply") from None

    return guarded


def not_decoded(value: Any, wanted: str) -> str:  # Any: a JSON value
    """What the original's decoder says of a value that is no `wanted`, a type of Go's."""
    return f"json: cannot unmarshal {go_word(value)} into Go value of type {wanted}"


_TYPES = {bool: "a boolean", str: "a string", list: "an array", dict: "an object"}


def type_of(value: Any) -> str:  # Any: a JSON value
    """The type of a JSON value in words."""
    return "null" if value is None else _TYPES.get(type(value), "a number")
