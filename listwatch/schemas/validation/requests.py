"""Faults of requests of many kinds: their turn, certificates, devices, and revisions.

Upstream: pkg/apis/{flowcontrol,certificates,resource,apps}/validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, subdomain_faults
from listwatch.schemas import scalars
from listwatch.schemas.validation.faults import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_FLOW_KINDS = ("Group", "ServiceAccount", "User")


def flow_schema_faults(document: JSONObject) -> list[Cause]:
    """Faults of a FlowSchema by itself."""
    spec, faults = document.get("spec") or {}, []
    precedence = spec.get("matchingPrecedence") or 0
    if precedence <= 0:
        faults.append(invalid("spec.matchingPrecedence", precedence, "must be a positive value"))
    if precedence > 10_000:
        why = "must not be greater than 10000"
        faults.append(invalid("spec.matchingPrecedence", precedence, why))
    level = (spec.get("priorityLevelConfiguration") or {}).get("name") or ""
    where = "spec.priorityLevelConfiguration.name"
    if not level:
        faults.append(required(where, "must reference a priority level"))
    else:
        faults += [invalid(where, level, why) for why in subdomain_faults(level)]
    method = spec.get("distinguisherMethod")
    if method is not None:
        kind, kinds = method.get("type") or "", ("ByNamespace", "ByUser")
        if kind not in kinds:
            faults.append(not_supported("spec.distinguisherMethod.type", kind, kinds))
    for index, rule in enumerate(spec.get("rules") or ()):
        faults += _flow_rule_faults(rule, f"spec.rules[{index}]")
    return faults


def _flow_rule_faults(rule: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    if not rule.get("subjects"):
        faults.append(required(f"{field}.subjects", "subjects must contain at least one value"))
    for index, subject in enumerate(rule.get("subjects") or ()):
        where, kind = f"{field}.subjects[{index}]", subject.get("kind") or ""
        if kind not in _FLOW_KINDS:
            faults.append(not_supported(f"{where}.kind", kind, _FLOW_KINDS))
            continue
        part = "serviceAccount" if kind == "ServiceAccount" else kind.lower()
        if subject.get(part) is None:
            why = f"{part} is required when subject kind is '{kind}'"
            faults.append(required(f"{where}.{part}", why))
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        faults.append(required(field, why))
    return faults


def priority_level_faults(document: JSONObject) -> list[Cause]:
    """Faults of a PriorityLevelConfiguration by itself."""
    spec, kinds = document.get("spec") or {}, ("Exempt", "Limited")
    kind, limited = spec.get("type") or "", spec.get("limited")
    if kind not in kinds:
        return [not_supported("spec.type", kind, kinds)]
    if kind == "Exempt":
        why = "must be nil if the type is not Limited"
        return [] if limited is None else [forbidden("spec.limited", why)]
    faults: list[Cause] = []
    if spec.get("exempt") is not None:
        why = "must be nil if the type is Limited"
        faults.append(forbidden("spec.exempt", why))
    if limited is None:
        why = "must not be empty when type is Limited"
        return [*faults, required("spec.limited", why)]
    response, where = limited.get("limitResponse") or {}, "spec.limited.limitResponse"
    answer, queuing = response.get("type") or "", response.get("queuing")
    if answer not in ("Queue", "Reject"):
        faults.append(not_supported(f"{where}.type", answer, ("Queue", "Reject")))
    elif answer == "Reject" and queuing is not None:
        why = "must be nil if limited.limitResponse.type is not Limited"
        faults.append(forbidden(f"{where}.queuing", why))
    elif answer == "Queue" and queuing is None:
        why = "must not be empty if limited.limitResponse.type is Limited"
        faults.append(required(f"{where}.queuing", why))
    return faults


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


def claim_spec_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ResourceClaim by itself."""
    return _devices_faults((document.get("spec") or {}).get("devices") or {}, "spec.devices")


def claim_template_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ResourceClaimTemplate by itself."""
    inner = ((document.get("spec") or {}).get("spec") or {}).get("devices") or {}
    return _devices_faults(inner, "spec.spec.devices")


def _devices_faults(devices: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    names: set[str] = set()
    for index, request in enumerate(devices.get("requests") or ()):
        where, name = f"{field}.requests[{index}]", request.get("name") or ""
        if not name:
            faults.append(required(f"{where}.name"))
        else:
            faults += [invalid(f"{where}.name", name, why) for why in label_name_faults(name)]
        if name and name in names:
            faults.append(duplicate(f"{where}.name", name))
        names.add(name)
        exactly, choices = request.get("exactly"), request.get("firstAvailable")
        if exactly is None and not choices:
            why = "exactly one of `exactly` or `firstAvailable` is required"
            faults.append(required(where, why))
        elif exactly is not None and choices:
            why = (
                "exactly one of `exactly` or `firstAvailable` is required, "
                "but multiple fields are set"
            )
            faults.append(invalid(where, "", why))
        elif exactly is not None and not exactly.get("deviceClassName"):
            faults.append(required(f"{where}.exactly.deviceClassName"))
    return faults


def slice_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ResourceSlice by itself."""
    spec = document.get("spec") or {}
    faults = [] if spec.get("driver") else [required("spec.driver")]
    if not (spec.get("pool") or {}).get("name"):
        faults.append(required("spec.pool.name"))
    where = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
    given = [name for name in where if spec.get(name)]
    choices = "`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`"
    if not given:
        faults.append(required("spec", f"exactly one of {choices} is required"))
    elif len(given) > 1:
        shown = "{" + ", ".join(given) + "}"
        why = f"exactly one of {choices} is required, but multiple fields are set"
        faults.append(invalid("spec", shown, why))
    return faults


def revision_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ControllerRevision by itself."""
    faults = [] if document.get("data") is not None else [required("data", "data is mandatory")]
    revision = document.get("revision") or 0
    if revision < 0:
        why = "must be greater than or equal to 0"
        faults.append(invalid("revision", revision, why))
    return faults
