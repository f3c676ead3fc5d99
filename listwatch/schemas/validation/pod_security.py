"""Faults of what the kernel keeps a pod or a container from: profiles, and what /proc shows.

Upstream: pkg/apis/core/validation/validation.go. Used by `pod_settings` and `containers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.schemas.validation.faults import (
    invalid,
    invalid_structure,
    not_supported,
    required,
    too_long,
)
from listwatch.schemas.validation.paths import descending_path_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_PROC_MOUNTS = ("Default", "Unmasked")
_LONGEST_PROFILE = 4095
_CONTEXT = "SecurityContext"


def profile_faults(context: JSONObject, field: str) -> list[Cause]:
    """Faults of the profiles in the security context of a pod."""
    return _seccomp(context, field) + _app_armor(context, field)


def container_security_faults(context: JSONObject, field: str, *, host_users: bool) -> list[Cause]:
    """Faults of the security context of a container, but for its users."""
    faults: list[Cause] = []
    mount = context.get("procMount")
    if mount is not None and mount not in _PROC_MOUNTS:
        faults.append(not_supported(f"{field}.procMount", mount, _PROC_MOUNTS))
    if mount == "Unmasked" and host_users:
        why = "`hostUsers` must be false to use `Unmasked`"
        faults.append(invalid(f"{field}.procMount", mount, why))
    return (
        faults + _seccomp(context, field) + _escalation(context, field) + _app_armor(context, field)
    )


def _escalation(context: JSONObject, field: str) -> list[Cause]:
    # Who has everything already cannot be kept from getting more.
    if context.get("allowPrivilegeEscalation") is not False:
        return []
    faults, no = [], "cannot set `allowPrivilegeEscalation` to false and"
    if context.get("privileged"):
        faults.append(invalid_structure(field, _CONTEXT, context, f"{no} `privileged` to true"))
    added = (context.get("capabilities") or {}).get("add") or ()
    faults += [
        invalid_structure(field, _CONTEXT, context, f"{no} `capabilities.Add` CAP_SYS_ADMIN")
        for name in added
        if name == "CAP_SYS_ADMIN"
    ]
    return faults


def _seccomp(context: JSONObject, field: str) -> list[Cause]:
    profile = context.get("seccompProfile")
    if profile is None:
        return []
    field = f"{field}.seccompProfile"
    faults = _kind(profile, field, "seccompProfile")
    where, local = f"{field}.localhostProfile", profile.get("localhostProfile")
    if profile.get("type") == "Localhost":
        if local is None:
            faults.append(required(where, "must be set when seccomp type is Localhost"))
        else:
            faults += descending_path_faults(local, where)
    elif local is not None:
        why = "can only be set when seccomp type is Localhost"
        faults.append(invalid_structure(where, "SeccompProfile", profile, why))
    return faults


def _app_armor(context: JSONObject, field: str) -> list[Cause]:
    profile = context.get("appArmorProfile")
    if profile is None:
        return []
    field = f"{field}.appArmorProfile"
    kind = _kind(profile, field, "appArmorProfile")
    where, local = f"{field}.localhostProfile", profile.get("localhostProfile")
    if kind:
        return kind
    if profile["type"] != "Localhost":
        why = "can only be set when AppArmor type is Localhost"
        return [] if local is None else [invalid(where, local, why)]
    if not local:
        return [required(where, "must be set when AppArmor type is Localhost")]
    faults = []
    if local != local.strip():
        faults.append(invalid(where, local, "must not be padded with whitespace"))
    if len(local.encode()) > _LONGEST_PROFILE:
        faults.append(too_long(where, _LONGEST_PROFILE))
    return faults


def _kind(profile: JSONObject, field: str, name: str) -> list[Cause]:
    kind = profile.get("type")
    if not kind:
        return [required(f"{field}.type", f"type is required when {name} is set")]
    return [] if kind in _PROFILES else [not_supported(f"{field}.type", kind, _PROFILES)]
