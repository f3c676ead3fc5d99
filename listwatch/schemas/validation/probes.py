"""Faults of probes, and of what is done when a container starts or ends.

Upstream: pkg/apis/core/validation/validation.go. Used by `validation.containers`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from listwatch.schemas.validation.faults import (
    NEGATIVE,
    forbidden,
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.names import port_name_faults, port_number_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_HEADER = "[-A-Za-z0-9]+"
_header = re.compile(_HEADER)
_HEADER_FAULT = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
    f"regex used for validation is '{_HEADER}')"
)
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_PROBE_NUMBERS = (
    "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold",
    "failureThreshold",
)  # fmt: skip


def probe_faults(probe: JSONObject, field: str) -> list[Cause]:
    """Faults of a probe: what it does, and how often."""
    faults = _one_handler_faults(probe, field)
    faults += [
        invalid(f"{field}.{name}", probe[name], NEGATIVE)
        for name in _PROBE_NUMBERS
        if probe.get(name, 0) < 0
    ]
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        why = "must be greater than 0"
        faults.append(invalid(f"{field}.terminationGracePeriodSeconds", grace, why))
    return faults


def _one_handler_faults(handlers: JSONObject, field: str, grace: int | None = None) -> list[Cause]:
    given = [kind for kind in _HANDLERS if kind in handlers]
    if not given:
        return [required(field, "must specify a handler type")]
    faults = [
        forbidden(f"{field}.{kind}", "may not specify more than 1 handler type")
        for kind in given[1:]
    ]
    handler, where = handlers[given[0]], f"{field}.{given[0]}"
    if given[0] == "sleep":
        return faults + _sleep_faults(handler, where, grace)
    return faults + _handler_faults(given[0], handler, where)


def _sleep_faults(sleep: JSONObject, field: str, grace: int | None) -> list[Cause]:
    # Nobody sleeps longer than the pod is given; a time that is no such is told of elsewhere.
    seconds = sleep.get("seconds") or 0
    if grace is None or grace < 0 or 0 <= seconds <= grace:
        return []
    why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
    return [invalid(field, seconds, why)]


def lifecycle_faults(lifecycle: JSONObject, field: str, grace: int | None) -> list[Cause]:
    """Faults of what is done after the start and before the end, for which there is `grace`."""
    return [
        fault
        for name in ("postStart", "preStop")
        if lifecycle.get(name) is not None
        for fault in _one_handler_faults(lifecycle[name], f"{field}.{name}", grace)
    ]


def _handler_faults(kind: str, handler: JSONObject, field: str) -> list[Cause]:
    if kind == "exec":
        return [] if handler.get("command") else [required(f"{field}.command")]
    faults = []
    if kind == "httpGet" and not handler.get("path"):
        faults.append(required(f"{field}.path"))
    faults += port_faults(handler.get("port", 0), f"{field}.port")
    if kind == "httpGet" and handler.get("scheme") not in ("HTTP", "HTTPS"):
        schemes = ("HTTP", "HTTPS")
        faults.append(not_supported(f"{field}.scheme", handler.get("scheme", ""), schemes))
    for header in handler.get("httpHeaders") or () if kind == "httpGet" else ():
        name = header.get("name") or ""
        if not _header.fullmatch(name):
            faults.append(invalid(f"{field}.httpHeaders", name, _HEADER_FAULT))
    return faults


def port_faults(port: Any, field: str) -> list[Cause]:  # Any: a number or a name
    """Faults of a port that is a number or the name of one."""
    why = port_name_faults(port) if isinstance(port, str) else port_number_faults(port)
    return [invalid(field, port, text) for text in why]
