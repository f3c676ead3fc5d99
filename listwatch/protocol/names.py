"""What names, label keys and label values may look like; faults in kube-apiserver's words.

Each function returns the faults of one text, an empty list if there are none. They are used by
`selectors` here and by validation in `registry`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = _LABEL + r"(\." + _LABEL + ")*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = "(" + _QUALIFIED + ")?"

_label = re.compile(_LABEL)
_subdomain = re.compile(_SUBDOMAIN)
_qualified = re.compile(_QUALIFIED)
_value = re.compile(_VALUE)

NON_EMPTY = "must be non-empty"
_QUALIFIED_FAULT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    f"regex used for validation is '{_QUALIFIED}')"
)
_QUALIFIED_PARTS_FAULT = (
    f"a valid label key {_QUALIFIED_FAULT} with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)
_VALUE_FAULT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    f"'12345', regex used for validation is '{_VALUE}')"
)
_SUBDOMAIN_FAULT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', "
    f"regex used for validation is '{_SUBDOMAIN}')"
)
_LABEL_FAULT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
    f"regex used for validation is '{_LABEL}')"
)


def too_long(limit: int) -> str:
    """The fault of a name over its limit."""
    return f"must be no more than {limit} characters"


def too_many_bytes(limit: int) -> str:
    """The same of labels' keys and values, which upstream measures in other words."""
    return f"must be no more than {limit} bytes"


def _length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def label_name_faults(text: str) -> list[str]:
    """Faults of an RFC 1123 label, as a namespace's name is one."""
    faults = [too_long(63)] if _length(text) > 63 else []
    return faults if _label.fullmatch(text) else [*faults, _LABEL_FAULT]


def subdomain_faults(text: str) -> list[str]:
    """Faults of an RFC 1123 subdomain, as most objects' names are one."""
    return _subdomain_faults(text, too_long)


def _subdomain_faults(text: str, over: Callable[[int], str]) -> list[str]:
    faults = [over(253)] if _length(text) > 253 else []
    return faults if _subdomain.fullmatch(text) else [*faults, _SUBDOMAIN_FAULT]


def qualified_name_faults(text: str) -> list[str]:
    """Faults of a label or annotation key: `[prefix/]name`."""
    prefix, slash, name = text.partition("/")
    if "/" in name:
        return [_QUALIFIED_PARTS_FAULT]
    faults = []
    if not slash:
        name = prefix
    elif not prefix:
        faults.append(f"prefix part {NON_EMPTY}")
    else:
        faults += [f"prefix part {fault}" for fault in _subdomain_faults(prefix, too_many_bytes)]
    if not name:
        faults.append(f"name part {NON_EMPTY}")
    elif _length(name) > 63:
        faults.append(f"name part {too_many_bytes(63)}")
    if not _qualified.fullmatch(name):
        faults.append(f"name part {_QUALIFIED_FAULT}")
    return faults


def label_value_faults(text: str) -> list[str]:
    """Faults of a label's value."""
    faults = [too_many_bytes(63)] if _length(text) > 63 else []
    return faults if _value.fullmatch(text) else [*faults, _VALUE_FAULT]


_ESCAPES = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v",
    "\\": r"\\", '"': r"\"",
}  # fmt: skip


def quoted(text: str) -> str:
    """A text in quotes as messages show it: control characters escaped, letters left alone."""
    return f'"{"".join(map(_shown, text))}"'


def _shown(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
