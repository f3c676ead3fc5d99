"""Every failure as a Status: DRF's exception handler for the API's views.

A StatusError says what it is; DRF's own exceptions are translated; anything else is a fault of
ours, logged with its traceback and answered with 500 InternalError, never shown.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from rest_framework import exceptions

from listwatch.api.responses import KubernetesResponse, TextResponse
from listwatch.protocol.errors import (
    StatusError,
    bad_request,
    internal_error,
    method_not_served,
    too_many_requests,
    unauthorized,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

log = logging.getLogger("listwatch.api")

_REASONS = {
    400: "BadRequest", 403: "Forbidden", 404: "NotFound", 406: "NotAcceptable",
    413: "RequestEntityTooLarge", 415: "UnsupportedMediaType",
}  # fmt: skip


class PageNotFoundError(Exception):
    """A path of which no group of the server knows anything: 404 as text, as Go has it."""


def exception_handler(
    error: Exception,
    context: Mapping[str, Any],  # Any: DRF's context
) -> KubernetesResponse:
    """The answer to a failed request."""
    if isinstance(error, PageNotFoundError):
        return TextResponse("404 page not found\n", status=404)
    status = as_status(error)
    if status.code >= 500 and not isinstance(error, StatusError):
        request = context.get("request")
        what = f"{request.method} {request.path}" if request is not None else "a request"
        log.error("%s failed", what, exc_info=error)
    return status_response(status)


def status_response(status: StatusError) -> KubernetesResponse:
    """A Status as an answer, with the Retry-After header it asks for."""
    headers = {"Retry-After": str(status.retry_after)} if status.retry_after else None
    return KubernetesResponse(status.to_dict(), status=status.code, headers=headers, exception=True)


def as_status(error: Exception) -> StatusError:
    """A failure in the protocol's own form."""
    match error:
        case StatusError():
            return error
        case exceptions.MethodNotAllowed():
            return method_not_served()
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return unauthorized()
        case exceptions.Throttled():
            return too_many_requests(str(error.detail), int(getattr(error, "wait", None) or 1))
        case exceptions.APIException():
            reason = _REASONS.get(error.status_code, "")
            return StatusError(error.status_code, reason, str(error.detail))
        case RequestDataTooBig():
            return StatusError(413, "RequestEntityTooLarge", str(error))
        case TypeError() if str(error) == "Recursion limit reached":
            # Of orjson: each body was shallow enough, but several patches made of them are not.
            return bad_request("the object is nested too deeply")
        case SuspiciousOperation():
            return bad_request(str(error))
    return internal_error("the server failed on this request; its log says why")
