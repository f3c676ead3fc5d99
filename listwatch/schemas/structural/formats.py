"""Formats of texts that are checked, those that upstream checks; all others say nothing.

Upstream: kube-openapi/pkg/validation/strfmt. The caller is `validating`.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date, datetime
from urllib.parse import urlsplit

from listwatch.protocol.names import label_name_faults, subdomain_faults

_DURATION_GO = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|ms|s|m|h)")
_DURATION_WORDS = re.compile(
    r"[0-9]+\s*(?:ns|nanos?|us|µs|micros?|ms|millis?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|"
    r"hours?|d|days?|w|weeks?)(?:\s*[0-9]+\s*[a-zµ]+)*"
)
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_EMAIL = re.compile(r"[^@\s<>]+@[^@\s<>]+")
_HOSTNAME = re.compile(
    r"(?=.{1,255}\.?$)[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*\.?"
)
_UUID = r"[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}"
_MAC = re.compile(
    r"(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4,6}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2,3}[0-9a-f]{4}",
    re.IGNORECASE,
)


def _matches(pattern: str | re.Pattern[str], flags: int = 0) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.fullmatch(text) is not None


def _date_time(text: str) -> bool:
    if not _DATE_TIME.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text[:19].upper())
    except ValueError:
        return False
    return True


def _date(text: str) -> bool:
    try:
        return len(text) == 10 and date.fromisoformat(text) is not None
    except ValueError:
        return False


def _duration(text: str) -> bool:
    parts = _DURATION_GO.sub("", text)
    return bool(text) and (parts == "" or text == "0" or bool(_DURATION_WORDS.fullmatch(text)))


def _uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme or parts.path.startswith("/"))


def _ip(version: int) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            return ipaddress.ip_address(text).version == version
        except ValueError:
            return False

    return check


def _cidr(text: str) -> bool:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return "/" in text


def _byte(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return False
    return True


_CHECKS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches("[0-9a-fA-F]{24}"),
    "byte": _byte,
    "cidr": _cidr,
    "date": _date,
    "date-time": _date_time,
    "datetime": _date_time,
    "duration": _duration,
    "email": _matches(_EMAIL),
    "hexcolor": _matches("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _matches(_HOSTNAME),
    "ipv4": _ip(4),
    "ipv6": _ip(6),
    "k8s-long-name": lambda text: not subdomain_faults(text),
    "k8s-short-name": lambda text: not label_name_faults(text),
    "mac": _matches(_MAC),
    "ssn": _matches(r"[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}"),
    "uri": _uri,
    "uuid": _matches(_UUID % ("[0-9a-f]", "[0-9a-f]"), re.IGNORECASE),
    "uuid3": _matches(_UUID % ("3", "[0-9a-f]"), re.IGNORECASE),
    "uuid4": _matches(_UUID % ("4", "[89ab]"), re.IGNORECASE),
    "uuid5": _matches(_UUID % ("5", "[89ab]"), re.IGNORECASE),
}  # fmt: skip


def is_checked(name: str) -> bool:
    """Whether a format says anything about a text."""
    return name in _CHECKS


def fits(name: str, text: str) -> bool:
    """Whether a text has a format; every text has one that is not known."""
    check = _CHECKS.get(name)
    return check is None or check(text)
