"""Which rule the names of each kind follow, and the rules that `protocol.names` does not have.

A rule returns the faults of a name; `prefix` means that something will be appended to it. The
callers are the validators beside this file.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, subdomain_faults, too_long

if TYPE_CHECKING:
    from collections.abc import Callable

_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_label_1035 = re.compile(_LABEL_1035)
_LABEL_1035_FAULT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_LABEL_1035}')"
)


def label_1035_faults(text: str) -> list[str]:
    """Faults of an RFC 1035 label, as a service's name is one: no digit in front."""
    faults = [too_long(63)] if len(text) > 63 else []
    return faults if _label_1035.fullmatch(text) else [*faults, _LABEL_1035_FAULT]


def path_segment_faults(text: str) -> list[str]:
    """Faults of a name that only has to fit into a path, as those of roles: colons are welcome."""
    if text in {".", ".."}:
        return [f"may not be '{text}'"]
    return [f"may not contain '{character}'" for character in "/%" if character in text]


_RBAC = "rbac.authorization.k8s.io"


def address_faults(text: str) -> list[str]:
    """Faults of the name of an IPAddress: the address, written in the one way."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
    return [] if str(address) == text else [f'must be in canonical form ("{address}")']


_RULES: dict[tuple[str, str], Callable[[str], list[str]]] = {
    ("", "Namespace"): label_name_faults,
    ("", "Service"): label_1035_faults,
    ("", "Event"): path_segment_faults,
    ("policy", "PodDisruptionBudget"): path_segment_faults,
    # That of the core group ends with its dot.
    ("apiregistration.k8s.io", "APIService"): path_segment_faults,
    ("certificates.k8s.io", "CertificateSigningRequest"): path_segment_faults,
    ("networking.k8s.io", "IPAddress"): address_faults,
    **{
        (_RBAC, kind): path_segment_faults
        for kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
    },
}


def name_faults(group: str, kind: str, name: str, *, prefix: bool = False) -> list[str]:
    """Faults of an object's name, or of what a name is generated from."""
    if prefix and name.endswith("-") and len(name) > 1:
        name = f"{name[:-1]}a"  # the dash will not be the last character
    return _RULES.get((group, kind), subdomain_faults)(name)


_VARIABLE_FAULT = (
    "a valid environment variable name must consist only of printable ASCII characters other "
    "than '='"
)


def variable_faults(name: str) -> list[str]:
    """Faults of the name of an environment variable, or of its beginning."""
    right = name.isascii() and name.isprintable() and "=" not in name
    return [] if right else [_VARIABLE_FAULT]


_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_config_key = re.compile(_CONFIG_KEY)
_CONFIG_KEY_FAULT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',"
    f"  or 'KEY_NAME',  or 'key-name', regex used for validation is '{_CONFIG_KEY}')"
)


def config_key_faults(key: str) -> list[str]:
    """Faults of a key in a ConfigMap or Secret: it becomes the name of a file."""
    faults = [too_long(253)] if len(key) > 253 else []
    if not _config_key.fullmatch(key):
        return [*faults, _CONFIG_KEY_FAULT]
    if key in {".", ".."}:
        return [*faults, f"must not be '{key}'"]
    return [*faults, "must not start with '..'"] if key.startswith("..") else faults


_PORT_NAME = re.compile("[-a-z0-9]+")


def port_name_faults(name: str) -> list[str]:
    """Faults of a port's name, as IANA has it: at most 15 characters, a letter among them."""
    faults = ["must be no more than 15 characters"] if len(name) > 15 else []
    if not _PORT_NAME.fullmatch(name):
        faults.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", name):
        faults.append("must contain at least one letter (a-z)")
    if "--" in name:
        faults.append("must not contain consecutive hyphens")
    if name[:1] == "-" or name[-1:] == "-":
        faults.append("must not begin or end with a hyphen")
    return faults


def port_number_faults(port: int) -> list[str]:
    """Faults of a port's number."""
    return [] if 1 <= port <= 65535 else ["must be between 1 and 65535, inclusive"]


_SEARCH_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SEARCH = f"{_SEARCH_LABEL}(\\.{_SEARCH_LABEL})*"
_search = re.compile(_SEARCH)
_SEARCH_FAULT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' "
    "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
    f"regex used for validation is '{_SEARCH}')"
)


def search_faults(text: str) -> list[str]:
    """Faults of a domain that names are looked up in; it may have underscores."""
    faults = [too_long(253)] if len(text) > 253 else []
    return faults if _search.fullmatch(text) else [*faults, _SEARCH_FAULT]
