"""Faults of what the kernel keeps a pod or a container from: profiles, and what /proc shows.

Upstream: pkg/apis/core/validation/validation.go. Used by `pod_settings` and `containers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.schemas.validation.faults import invalid, not_supported, required, too_long
from listwatch.schemas.validation.volumes import descending_path_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_PROC_MOUNTS = ("Default", "Unmasked")
_LONGEST_PROFILE = 4095
_WINDOWS = ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName", "hostProcess")


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
        faults.append(invalid(field, _shown(context), f"{no} `privileged` to true"))
    added = (context.get("capabilities") or {}).get("add") or ()
    faults += [
        invalid(field, _shown(context), f"{no} `capabilities.Add` CAP_SYS_ADMIN")
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
        faults.append(invalid(where, _shown_profile(profile), why))
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


def _shown(context: JSONObject) -> JSONObject:
    """A context as upstream shows it: the structure that it has within the server."""
    capabilities, labels = context.get("capabilities"), context.get("seLinuxOptions")
    windows = context.get("windowsOptions")
    return {
        "Capabilities": None
        if capabilities is None
        else {"Add": capabilities.get("add"), "Drop": capabilities.get("drop")},
        "Privileged": context.get("privileged"),
        "SELinuxOptions": None
        if labels is None
        else {name.title(): labels.get(name) or "" for name in ("user", "role", "type", "level")},
        "WindowsOptions": None
        if windows is None
        else {_exported(name): windows.get(name) for name in _WINDOWS},
        **{
            _exported(name): context.get(name)
            for name in (
                "runAsUser", "runAsGroup", "runAsNonRoot", "readOnlyRootFilesystem",
                "allowPrivilegeEscalation", "procMount",
            )
        },
        "SeccompProfile": _shown_profile(context.get("seccompProfile")),
        "AppArmorProfile": _shown_profile(context.get("appArmorProfile")),
    }  # fmt: skip


def _exported(name: str) -> str:
    return "GMSA" + name[4:] if name.startswith("gmsa") else name[0].upper() + name[1:]


def _shown_profile(profile: JSONObject | None) -> JSONObject | None:
    if profile is None:
        return None
    return {
        "Type": profile.get("type") or "",
        "LocalhostProfile": profile.get("localhostProfile"),
    }
