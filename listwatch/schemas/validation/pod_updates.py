"""What of a pod may change once it is there: hardly anything of its spec.

Upstream: pkg/apis/core/validation/validation.go (ValidatePodUpdate). Used by `rules`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.schemas.structures import POD_SPEC, difference
from listwatch.schemas.validation.faults import forbidden, invalid

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_FROZEN = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)\n"
)
_FREE = ("activeDeadlineSeconds", "tolerations", "schedulingGates")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_TERMS = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"


def pod_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Faults of a pod as the change of another."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    if spec == before:
        return []
    for kind in ("containers", "initContainers"):
        if len(spec.get(kind) or ()) != len(before.get(kind) or ()):
            why = "pod updates may not add or remove containers"
            return [forbidden(f"spec.{kind}", why)]
    faults = _deadline_faults(spec.get("activeDeadlineSeconds"), before)
    if any(toleration not in (spec.get("tolerations") or ()) for toleration in _tolerated(before)):
        why = "existing toleration can not be modified except its tolerationSeconds"
        faults.append(forbidden("spec.tolerations", why))
    faults += _gate_faults(spec, before)
    fixed = _with_free_parts_of(before, spec)
    if before.get("schedulingGates"):
        # Nobody has looked yet where it could run, so that may be narrowed.
        faults += _selector_faults(spec, before) + _affinity_faults(spec, before)
        fixed = _with_placement_of(before, fixed)
    if fixed != before:
        faults.append(forbidden("spec", _FROZEN + difference(POD_SPEC, before, fixed)))
    return faults


def _deadline_faults(deadline: int | None, before: JSONObject) -> list[Cause]:
    old = before.get("activeDeadlineSeconds")
    if old is None or deadline == old:
        return []
    field = "spec.activeDeadlineSeconds"
    if deadline is None:
        why = "must not update from a positive integer to nil value"
        return [invalid(field, deadline, why)]
    if deadline > old:
        return [invalid(field, deadline, "must be less than or equal to previous value")]
    return []


def _gate_faults(spec: JSONObject, before: JSONObject) -> list[Cause]:
    gates = [gate.get("name", "") for gate in before.get("schedulingGates") or ()]
    return [
        forbidden(
            "spec.schedulingGates",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'",
        )
        for gate in spec.get("schedulingGates") or ()
        if gate.get("name", "") not in gates
    ]


def _selector_faults(spec: JSONObject, before: JSONObject) -> list[Cause]:
    new, old = spec.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if all(new.get(key) == value for key, value in old.items()):
        return []
    why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
    return [invalid("spec.nodeSelector", new, why)]


def _affinity_faults(spec: JSONObject, before: JSONObject) -> list[Cause]:
    new, old = _terms(spec), _terms(before)
    if old and len(old) != len(new):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [invalid(_TERMS, new, why)]
    why = "only additions are allowed (no mutations or deletions)"
    return [
        invalid(f"{_TERMS}[{index}]", term, why)
        for index, (term, was) in enumerate(zip(new, old, strict=False))
        if not _only_adds(term, was)
    ]


def _terms(spec: JSONObject) -> list[JSONObject]:
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return list((affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ())


def _only_adds(term: JSONObject, was: JSONObject) -> bool:
    parts = ("matchExpressions", "matchFields")
    # A term without requirements matches nothing: with some, it would match more than before.
    if not any(was.get(part) for part in parts):
        return not any(term.get(part) for part in parts)
    return all(
        list(term.get(part) or ())[: len(was.get(part) or ())] == list(was.get(part) or ())
        for part in parts
    )


def _tolerated(spec: JSONObject) -> list[JSONObject]:
    # How long something is tolerated may change; that it is, may not.
    return [t for t in spec.get("tolerations") or () if "tolerationSeconds" not in t]


def _with_free_parts_of(before: JSONObject, spec: JSONObject) -> JSONObject:
    """A spec with what may change as it was: whatever still differs may not."""
    fixed = _put(spec, before, _FREE)
    grace = "terminationGracePeriodSeconds"
    if before.get(grace, 0) < 0 and spec.get(grace) == 1:
        fixed = _put(fixed, before, (grace,))
    for kind in ("containers", "initContainers"):
        if fixed.get(kind):
            pairs = zip(fixed[kind], before[kind], strict=True)
            fixed[kind] = [_put(container, was, ("image",)) for container, was in pairs]
    return fixed


def _with_placement_of(before: JSONObject, spec: JSONObject) -> JSONObject:
    fixed = _put(spec, before, ("nodeSelector",))
    affinity, was = fixed.get("affinity") or {}, before.get("affinity") or {}
    fixed["affinity"] = _put(affinity, was, ("nodeAffinity",))
    if not fixed["affinity"] and "affinity" not in before:
        del fixed["affinity"]
    return fixed


def _put(value: JSONObject, before: JSONObject, names: tuple[str, ...]) -> dict[str, Any]:
    # Any: JSON values
    kept = {name: inner for name, inner in value.items() if name not in names}
    return {**kept, **{name: before[name] for name in names if name in before}}
