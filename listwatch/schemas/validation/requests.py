"""Faults of requests of many kinds: certificates, and revisions.

Upstream: pkg/apis/{certificates,apps}/validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import subdomain_faults
from listwatch.schemas import scalars
from listwatch.schemas.validation.faults import (
    invalid,
    not_supported,
    required,
)

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_LEAST_SECONDS = 600
_PEM = "PEM block type must be CERTIFICATE REQUEST"
_USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign",
    "data encipherment", "decipher only", "digital signature", "email protection",
    "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
    "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth",
    "signing", "timestamping",
)  # fmt: skip


def signing_request_faults(document: JSONObject) -> list[Cause]:
    """Faults of a CertificateSigningRequest by itself."""
    spec, faults = document.get("spec") or {}, []
    request = spec.get("request") or ""
    try:
        text = scalars.base64_bytes(request)
    except ValueError:
        text = b""
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in text:
        faults.append(invalid("spec.request", request, _PEM))
    usages = spec.get("usages") or []
    if not usages:
        faults.append(required("spec.usages"))
    faults += [
        not_supported(f"spec.usages[{index}]", usage, _USAGES)
        for index, usage in enumerate(usages)
        if usage not in _USAGES
    ]
    faults += _signer_faults(spec.get("signerName") or "")
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _LEAST_SECONDS:
        why = "may not specify a duration less than 600 seconds (10 minutes)"
        faults.append(invalid("spec.expirationSeconds", seconds, why))
    return faults


def _signer_faults(name: str) -> list[Cause]:
    field = "spec.signerName"
    if not name:
        return [required(field)]
    host, slash, path = name.partition("/")
    if not slash or "/" in path:
        why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        return [invalid(field, name, why)]
    faults = [invalid(field, host, why) for why in subdomain_faults(host)]
    if not faults and "." not in host:
        why = "should be a domain with at least two segments separated by dots"
        faults.append(invalid(field, host, why))
    return faults + [invalid(field, path, why) for why in subdomain_faults(path)]


def revision_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ControllerRevision by itself."""
    faults, revision = [], document.get("revision") or 0
    if revision < 0:
        why = "must be greater than or equal to 0"
        faults.append(invalid("revision", revision, why))
    data = document.get("data")
    if not isinstance(data, dict):
        why = "data is mandatory" if data is None else "data must be a valid JSON object"
        faults.append(required("data", why))
    return faults
