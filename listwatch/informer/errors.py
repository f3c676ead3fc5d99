"""What can go wrong between a client and a server, one class for each way to react to it.

Every answer that is a refusal becomes an ApiError by `api_error`; what never became an answer is a
TransportError. Raised by `client`, told apart by `reflector`.
"""

from __future__ import annotations

from typing import Any

from listwatch.protocol.errors import Cause, StatusError
from listwatch.protocol.objects import JSONObject

TOO_LARGE = "Too large resource version"


class ApiError(StatusError):
    """A refusal by the server: a Status, whatever its form on the wire."""

    def __str__(self) -> str:
        return f"{self.code} {self.reason}: {self.message}"


class BadRequestError(ApiError):
    """400."""


class UnauthorizedError(ApiError):
    """401."""


class ForbiddenError(ApiError):
    """403."""


class NotFoundError(ApiError):
    """404: the object, or the whole kind."""


class MethodNotAllowedError(ApiError):
    """405."""


class AlreadyExistsError(ApiError):
    """409 of a create."""


class ConflictError(ApiError):
    """409 of a write that expected another state: read again, and do it again."""


class GoneError(ApiError):
    """410."""


class ExpiredError(GoneError):
    """410 with the reason Expired: a resourceVersion or a continue token nobody remembers."""


class InvalidError(ApiError):
    """422."""


class TooManyRequestsError(ApiError):
    """429: `retry_after` says when to come back."""


class InternalError(ApiError):
    """500."""


class ServiceUnavailableError(ApiError):
    """503."""


class ServerTimeoutError(ApiError):
    """504."""


class TooLargeResourceVersionError(ServerTimeoutError):
    """504 for a revision this server has not reached, or that another server has given."""


class DecodingError(ApiError):
    """A frame or a body that is no JSON; made by the client, with a Status as upstream's."""


class TransportError(OSError):
    """No answer: the server was not reached, or the connection ended on the way."""


class ConnectionFailedError(TransportError):
    """Nothing was reached: refused, unreachable, no such name, no TLS, no answer in time."""

    refused = False


class ConnectionRefused(ConnectionFailedError):  # noqa: N818 -- the field's word
    """Nobody listens there."""

    refused = True


class StreamCutError(TransportError):
    """A stream that ended in the middle: what came last was no whole line."""


class StreamSilentError(TransportError):
    """A stream that said nothing for so long that it must be dead: bookmarks would have come."""


class VeryShortWatchError(Exception):
    """A watch that ended within a second, and told nothing; or several that ended early."""

    def __init__(self, name: str, watches: int = 1) -> None:
        lasted = "watch lasted less than a second"
        if watches > 1:
            lasted = f"{watches} watches in a row ended early"
        super().__init__(
            f"very short watch: {name}: Unexpected watch close - {lasted} and no items received"
        )


_BY_REASON: dict[str, type[ApiError]] = {
    "BadRequest": BadRequestError,
    "Unauthorized": UnauthorizedError,
    "Forbidden": ForbiddenError,
    "NotFound": NotFoundError,
    "MethodNotAllowed": MethodNotAllowedError,
    "AlreadyExists": AlreadyExistsError,
    "Conflict": ConflictError,
    "Gone": GoneError,
    "Expired": ExpiredError,
    "Invalid": InvalidError,
    "TooManyRequests": TooManyRequestsError,
    "InternalError": InternalError,
    "ServiceUnavailable": ServiceUnavailableError,
    "Timeout": ServerTimeoutError,
    "ServerTimeout": ServerTimeoutError,
    "ClientWatchDecoding": DecodingError,
}
# Codes count only where the reason is unknown, but for 429.
_BY_CODE: dict[int, type[ApiError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    405: MethodNotAllowedError,
    409: ConflictError,
    410: GoneError,
    422: InvalidError,
    429: TooManyRequestsError,
    500: InternalError,
    503: ServiceUnavailableError,
    504: ServerTimeoutError,
}


def api_error(status: JSONObject, code: int = 0, retry_after: int = 0) -> ApiError:
    """The error that a Status tells of; `code` and `retry_after` fill in what it does not say."""
    details: JSONObject = dict(status.get("details") or {})
    causes = tuple(_cause(item) for item in details.pop("causes", None) or ())
    if retry_after and not details.get("retryAfterSeconds"):
        details["retryAfterSeconds"] = retry_after
    reason = str(status.get("reason") or "")
    code = int(status.get("code") or code or 0)
    message = str(status.get("message") or "")
    kind = _kind_of(reason, code)
    if kind is ServerTimeoutError and _is_too_large(message, causes):
        kind = TooLargeResourceVersionError
    return kind(code, reason, message, details=details, causes=causes)


def _kind_of(reason: str, code: int) -> type[ApiError]:
    known = _BY_REASON.get(reason)
    if code == 429 and known is not TooManyRequestsError:
        return TooManyRequestsError
    return known or _BY_CODE.get(code, ApiError)


def _cause(item: Any) -> Cause:  # Any: as it came over the wire
    if not isinstance(item, dict):
        return Cause("", str(item))
    return Cause(
        str(item.get("reason") or ""), str(item.get("message") or ""), str(item.get("field") or "")
    )


def _is_too_large(message: str, causes: tuple[Cause, ...]) -> bool:
    # Three forms: a cause of that type; a cause of that text (1.17.0 to 1.18.5); the text (older).
    return (
        any(c.reason == "ResourceVersionTooLarge" or c.message == TOO_LARGE for c in causes)
        or TOO_LARGE in message
    )
