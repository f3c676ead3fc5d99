"""Faults of what the kernel keeps a pod or a container from: profiles, and what /proc shows.

Upstream: pkg/apis/core/validation/validation.go. Used by `pod_settings` and `containers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.schemas.validation.faults import invalid, not_supported, required

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_PROC_MOUNTS = ("Default", "Unmasked")


def profile_faults(context: JSONObject, field: str) -> list[Cause]:
    """Faults of the profiles in a security context."""
    faults: list[Cause] = []
    for name, called in (("seccompProfile", "seccomp"), ("appArmorProfile", "AppArmor")):
        profile = context.get(name)
        if profile is not None:
            faults += _profile_faults(profile, f"{field}.{name}", called)
    mount = context.get("procMount")
    if mount is not None and mount not in _PROC_MOUNTS:
        faults.append(not_supported(f"{field}.procMount", mount, _PROC_MOUNTS))
    return faults


def _profile_faults(profile: JSONObject, field: str, called: str) -> list[Cause]:
    kind, local = profile.get("type") or "", profile.get("localhostProfile")
    name = f"{called[0].lower()}{called[1:]}Profile"
    faults = []
    if not kind:
        faults.append(required(f"{field}.type", f"type is required when {name} is set"))
    elif kind not in _PROFILES:
        faults.append(not_supported(f"{field}.type", kind, _PROFILES))
    where = f"{field}.localhostProfile"
    if kind == "Localhost" and not local:
        faults.append(required(where, f"must be set when {called} type is Localhost"))
    elif kind != "Localhost" and local is not None:
        # Of AppArmor upstream shows the name alone, of seccomp the whole structure.
        shown = local if called == "AppArmor" else {"Type": kind, "LocalhostProfile": local}
        why = f"can only be set when {called} type is Localhost"
        faults.append(invalid(where, shown, why))
    return faults
