"""Every refusal as a Status: code, reason, message, details with causes that name the field.

Raised anywhere below `api`, written by `api.exceptions`. Message shapes are kube-apiserver's,
since clients and people match on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from listwatch.protocol.kinds import GroupResource, GroupVersionKind
from listwatch.protocol.objects import JSONObject


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason among the details; `reason` is such as FieldValueInvalid."""

    reason: str
    message: str
    field: str = ""

    def to_dict(self) -> JSONObject:
        """The cause as it stands in a Status."""
        cause = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in cause.items() if value}


class StatusError(Exception):
    """A refusal in the protocol's own form.

    `details` is the Status' details without causes, written if given; `continue_token` goes into
    its metadata.
    """

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        details: JSONObject | None = None,
        causes: tuple[Cause, ...] = (),
        continue_token: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = dict(details or {})
        self.has_details = details is not None  # upstream writes `{}` where it has nothing to say
        self.causes = causes
        self.continue_token = continue_token

    @property
    def retry_after(self) -> int:
        """Seconds for the Retry-After header; 0 for none."""
        return int(self.details.get("retryAfterSeconds", 0))

    def to_dict(self) -> JSONObject:
        """The Status object, its fields in kube-apiserver's order."""
        status: JSONObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {"continue": self.continue_token} if self.continue_token else {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        details = dict(self.details)
        if self.causes:
            details["causes"] = [cause.to_dict() for cause in self.causes]
        if details or self.has_details:
            status["details"] = details
        status["code"] = self.code
        return status


def _names(resource: GroupResource, name: str, **more: Any) -> JSONObject:  # Any: JSON values
    details: JSONObject = {"name": name} if name else {}
    if resource.group:
        details["group"] = resource.group
    return {**details, "kind": resource.resource, **more}


def not_found(resource: GroupResource, name: str) -> StatusError:
    """404 for an object that is not there."""
    message = f'{resource} "{name}" not found'
    return StatusError(404, "NotFound", message, details=_names(resource, name))


def resource_not_found() -> StatusError:
    """404 for a path under a served prefix that no resource answers."""
    message = "the server could not find the requested resource"
    return StatusError(404, "NotFound", message, details={})


def method_not_served() -> StatusError:
    """405 for a method that a path under a served prefix has not."""
    message = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", message, details={})


def already_exists(resource: GroupResource, name: str, *, deleting: bool = False) -> StatusError:
    """409 on create; `deleting`: the one that stands there is on its way out."""
    prefix = "object is being deleted: " if deleting else ""
    message = f'{prefix}{resource} "{name}" already exists'
    return StatusError(409, "AlreadyExists", message, details=_names(resource, name))


CONFLICT_MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def conflict(resource: GroupResource, name: str, why: str = CONFLICT_MODIFIED) -> StatusError:
    """409 for a write that expected another state."""
    message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return StatusError(409, "Conflict", message, details=_names(resource, name))


def bad_request(message: str) -> StatusError:
    """400 with free text."""
    return StatusError(400, "BadRequest", message)


_GO_WORDS = {bool: "bool", str: "string", list: "array", dict: "object"}


def go_word(value: Any) -> str:  # Any: a JSON value
    """What Go's decoder calls a value that it did not expect."""
    return _GO_WORDS.get(type(value), "number")


def invalid(gvk: GroupVersionKind, name: str, causes: tuple[Cause, ...]) -> StatusError:
    """422 with one cause a fault; the message names each field."""
    # A cause may be there twice, as upstream looks twice; the message tells it once.
    texts = [f"{c.field}: {c.message}" if c.field else c.message for c in causes]
    parts = list(dict.fromkeys(texts))
    kind = f"{gvk.kind}.{gvk.group}" if gvk.group else gvk.kind
    text = parts[0] if len(parts) == 1 else "[" + ", ".join(parts) + "]"
    details: JSONObject = {"name": name} if name else {}
    if gvk.group:
        details["group"] = gvk.group
    if gvk.kind:
        details["kind"] = gvk.kind
    message = f'{kind} "{name}" is invalid: {text}' if parts else f'{kind} "{name}" is invalid'
    return StatusError(422, "Invalid", message, details=details, causes=causes)


def expired(message: str, *, continue_token: str = "") -> StatusError:
    """410 for a revision that nothing holds any more."""
    return StatusError(410, "Expired", message, continue_token=continue_token)


def too_old_resource_version(requested: int, oldest: int) -> StatusError:
    """410 of a watch: `oldest` is the oldest revision it could have started from."""
    return expired(f"too old resource version: {requested} ({oldest})")


def too_large_resource_version(requested: int, current: int, retry: int = 1) -> StatusError:
    """504 for a revision that this server has not reached."""
    return StatusError(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {requested}, current: {current}",
        details={"retryAfterSeconds": retry} if retry else {},
        causes=(Cause("ResourceVersionTooLarge", "Too large resource version"),),
    )


def method_not_allowed(resource: GroupResource, verb: str) -> StatusError:
    """405 for a verb that the resource has not."""
    return StatusError(
        405,
        "MethodNotAllowed",
        f'{verb} is not supported on resources of kind "{resource}"',
        details=_names(resource, ""),
    )


def forbidden(
    resource: GroupResource, name: str, why: str, *, causes: tuple[Cause, ...] = ()
) -> StatusError:
    """403 for what the user may not do, or nobody may."""
    where = f'{resource} "{name}"' if name else str(resource)
    return StatusError(
        403, "Forbidden", f"{where} is forbidden: {why}",
        details=_names(resource, name), causes=causes,
    )  # fmt: skip


def unauthorized() -> StatusError:
    """401 for credentials that are none."""
    return StatusError(401, "Unauthorized", "Unauthorized")


def too_many_requests(message: str, retry: int) -> StatusError:
    """429: try again in so many seconds."""
    details = {"retryAfterSeconds": retry}
    return StatusError(429, "TooManyRequests", message, details=details)


def unsupported_media_type(given: str, accepted: list[str]) -> StatusError:
    """415 with the types that are read."""
    message = (
        "the body of the request was in an unknown format - "
        f"accepted media types include: {', '.join(accepted)}"
    )
    return StatusError(415, "UnsupportedMediaType", message)


def not_acceptable(accepted: list[str]) -> StatusError:
    """406 with the types that can be written."""
    message = (
        "only the following media types are accepted: " + ", ".join(accepted)
        if accepted
        else "no acceptable representation"
    )
    return StatusError(406, "NotAcceptable", message)


def request_entity_too_large(limit: int) -> StatusError:
    """413 for a body over the limit."""
    message = f"Request entity too large: limit is {limit}"
    return StatusError(413, "RequestEntityTooLarge", message)


def timeout(message: str, retry: int = 0) -> StatusError:
    """504 for a request that took too long."""
    details = {"retryAfterSeconds": retry} if retry else {}
    return StatusError(504, "Timeout", f"Timeout: {message}", details=details)


def service_unavailable(message: str) -> StatusError:
    """503 while the server cannot answer."""
    return StatusError(503, "ServiceUnavailable", message)


def internal_error(message: str) -> StatusError:
    """500 for a fault of our own."""
    return StatusError(
        500, "InternalError", f"Internal error occurred: {message}", causes=(Cause("", message),)
    )
