"""`pods/eviction`: a deletion that asks the disruption budgets first.

A budget's controller says how many pods may go; each eviction takes one off and writes the pod
down, until the controller has seen it gone. Then the pod is deleted like any other, in `delete`.
Upstream: pkg/registry/core/pod/storage/eviction.go.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import (
    Cause,
    StatusError,
    bad_request,
    forbidden,
    not_found,
)
from listwatch.protocol.kinds import GroupResource, GroupVersionKind
from listwatch.protocol.objects import Encoded, encode
from listwatch.protocol.options import DeleteOptions
from listwatch.protocol.selectors import LabelSelector
from listwatch.registry import metadata as meta
from listwatch.registry.backend import Key, Step
from listwatch.registry.bodies import read_body
from listwatch.registry.context import Written
from listwatch.registry.delete import delete
from listwatch.store.writes import Update
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Version
    from listwatch.registry.backend import Backend, State
    from listwatch.registry.context import RequestContext

EVICTION = GroupVersionKind("policy", "v1", "Eviction")
BUDGETS = GroupResource("policy", "poddisruptionbudgets")
_DONE = Encoded(
    b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}', 0
)
_MOST_DISRUPTED = 2000  # evictions that the controller has not yet seen the end of
_RETRY = 10
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)


async def evict(backend: Backend, ctx: RequestContext, document: JSONObject) -> Written:
    """Delete a pod if its budget allows it; raises 400, 404, 409, 422, and 429 if it does not."""
    document = read_body(ctx, document, EVICTION, backend.resources)
    metadata = meta.metadata_of(document)
    meta.match_namespace(ctx, metadata)
    if metadata.get("name") != ctx.name:
        raise bad_request("name in URL does not match name in Eviction object")
    document = await backend.admission.admit(ctx, document, EVICTION)
    options = DeleteOptions.from_document(document.get("deleteOptions") or {})
    dry_run = ctx.dry_run or options.dry_run
    plain = replace(ctx, subresource="", dry_run=dry_run)
    state = await backend.newest(backend.key(plain))
    if state is None:
        raise not_found(plain.resource.group_resource, ctx.name)
    pod = state.document()
    if not _may_pass(pod):
        await _ask_budgets(backend, plain, pod)
        if not dry_run:
            await _announce(backend, plain)
    await delete(backend, plain, options)
    return Written(_DONE, 0, created=True)


def _may_pass(pod: JSONObject) -> bool:
    # Who does not serve anybody yet, or no longer, is missed by nobody.
    phase = (pod.get("status") or {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]


async def _ask_budgets(backend: Backend, ctx: RequestContext, pod: JSONObject) -> None:
    await backend.fresh()
    budgets = _budgets_of(backend, ctx.namespace, pod["metadata"].get("labels") or {})
    if len(budgets) > 1:
        raise bad_request(_SEVERAL)
    if not budgets:
        return
    version = budgets[0]
    if not _ready(pod) and _unhealthy_may_go(version.decode()):
        return
    key = Key(BUDGETS, ctx.namespace, version.name, BUDGETS)
    now = rfc3339(backend.clock.now())

    def transform(state: State) -> Step:
        budget = state.document()
        _take_one(budget, ctx.name, now)
        encoded = encode(budget)
        return Step(Update(*key[:3], state.revision, encoded), encoded)

    try:
        await backend.settle(key, transform, dry_run=ctx.dry_run)
    except StatusError as error:
        if error.code != 404:  # a budget that is gone forbids nothing
            raise


def _budgets_of(backend: Backend, namespace: str, labels: JSONObject) -> list[Version]:
    found = backend.caches.cacher(BUDGETS).list(ListRequest(namespace)).versions
    return [version for version in found if _selects(version.decode(), labels)]


def _selects(budget: JSONObject, labels: JSONObject) -> bool:
    selector = (budget.get("spec") or {}).get("selector")
    if selector is None:
        return False
    if not selector:
        return True
    try:
        parsed = LabelSelector.of(selector)
    except (StatusError, KeyError, TypeError):
        return False
    return parsed is not None and parsed.matches(labels)


def _ready(pod: JSONObject) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)


def _unhealthy_may_go(budget: JSONObject) -> bool:
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy") or 0
    return 0 < desired <= (status.get("currentHealthy") or 0)


def _take_one(budget: JSONObject, pod: str, now: str) -> None:
    metadata, status = budget["metadata"], budget.setdefault("status", {})
    name, allowed = metadata["name"], status.get("disruptionsAllowed") or 0
    if (status.get("observedGeneration") or 0) < metadata.get("generation", 0):
        why = f"The disruption budget {name} is still being processed by the server."
        raise _refused(why, retry=_RETRY)
    if allowed < 0:
        raise forbidden(BUDGETS, name, "pdb disruptions allowed is negative")
    disrupted = status.get("disruptedPods") or {}
    if len(disrupted) > _MOST_DISRUPTED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise forbidden(BUDGETS, name, why)
    if allowed == 0:
        raise _refused(_why_none(name, status))
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        _set_condition(status, metadata.get("generation", 0), now)
    status["disruptedPods"] = {**disrupted, pod: now}
    metadata.pop("resourceVersion", None)


def _why_none(name: str, status: JSONObject) -> str:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "DisruptionAllowed" and condition.get("reason") == "SyncFailed":
            return (
                f"The disruption budget {name} does not allow evicting pods currently because it "
                f"failed sync: {condition.get('message', '')}"
            )
    return (
        f"The disruption budget {name} needs {status.get('desiredHealthy') or 0} healthy pods and "
        f"has {status.get('currentHealthy') or 0} currently"
    )


def _set_condition(status: JSONObject, generation: int, now: str) -> None:
    condition = {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": generation,
        "lastTransitionTime": now,
        "reason": "InsufficientPods",
        "message": "",
    }
    others = [c for c in status.get("conditions") or () if c.get("type") != "DisruptionAllowed"]
    status["conditions"] = [*others, condition]


def _refused(why: str, *, retry: int = 0) -> StatusError:
    details = {"retryAfterSeconds": retry} if retry else {}
    causes = (Cause("DisruptionBudget", why),)
    return StatusError(429, "TooManyRequests", _REFUSED, details=details, causes=causes)


async def _announce(backend: Backend, ctx: RequestContext) -> None:
    """Say on the pod why it goes, for those who look at what was disrupted."""
    key, now = backend.key(ctx), rfc3339(backend.clock.now())

    def transform(state: State) -> Step:
        pod = state.document()
        pod["metadata"].pop("resourceVersion", None)
        conditions = pod.setdefault("status", {}).setdefault("conditions", [])
        conditions[:] = [c for c in conditions if c.get("type") != "DisruptionTarget"]
        conditions.append(
            {
                "type": "DisruptionTarget",
                "status": "True",
                "lastProbeTime": None,
                "lastTransitionTime": now,
                "reason": "EvictionByEvictionAPI",
                "message": "Eviction API: evicting",
            }
        )
        pod["metadata"] = meta.ordered(pod["metadata"])
        encoded = encode(pod)
        return Step(Update(*key[:3], state.revision, encoded), encoded)

    await backend.settle(key, transform)
