"""Classes of ingresses and of runtimes, and that only one class of priority is the default.

What upstream's admission plugins DefaultIngressClass, RuntimeClass and Priority do to these new
objects. Called by `create` before defaulting; the other classes are matters of `admission`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from listwatch.protocol.errors import StatusError, forbidden
from listwatch.protocol.kinds import GroupResource
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext

PRIORITIES = GroupResource("scheduling.k8s.io", "priorityclasses")
INGRESS = GroupResource("networking.k8s.io", "ingressclasses")
RUNTIME = GroupResource("node.k8s.io", "runtimeclasses")
_INGRESS_DEFAULT = ("ingressclass.kubernetes.io/is-default-class",)
_OLD_INGRESS_CLASS = "kubernetes.io/ingress.class"


async def complete(backend: Backend, ctx: RequestContext, document: JSONObject) -> None:
    """Write what its class says into a new object, in place; raises 403 for a class that is none.

    What is not found at first is looked for once more among what was committed meanwhile.
    """
    step = _STEPS.get(ctx.resource.storage)
    if step is None:
        return
    try:
        step(backend, ctx, document)
    except StatusError:
        await backend.fresh()
        step(backend, ctx, document)


def _pod(backend: Backend, ctx: RequestContext, document: JSONObject) -> None:
    spec = document.get("spec")
    if not isinstance(spec, dict) or not spec.get("runtimeClassName"):
        return
    wanted = spec["runtimeClassName"]
    name = document["metadata"].get("name") or document["metadata"].get("generateName") or ""

    def refuse(why: str) -> StatusError:
        return forbidden(ctx.resource.group_resource, name, f"pod rejected: {why}")

    version = backend.cached(RUNTIME, "", wanted)
    if version is None:
        raise refuse(f'RuntimeClass "{wanted}" not found')
    runtime = version.decode()
    _overhead(spec, runtime, refuse)
    _schedule(spec, runtime.get("scheduling") or {}, refuse)


def _overhead(spec: JSONObject, runtime: JSONObject, refuse: Callable[[str], StatusError]) -> None:
    fixed, given = (runtime.get("overhead") or {}).get("podFixed"), spec.get("overhead")
    if given and not fixed:
        raise refuse("Pod Overhead set without corresponding RuntimeClass defined Overhead")
    if given and given != fixed:
        raise refuse("Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    if fixed:
        spec["overhead"] = fixed


def _schedule(spec: JSONObject, rules: JSONObject, refuse: Callable[[str], StatusError]) -> None:
    wanted, own = rules.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    for key, value in wanted.items():
        if own.get(key, value) != value:
            raise refuse(
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {own[key]}"
            )
    if wanted:
        spec["nodeSelector"] = {**own, **wanted}
    if rules.get("tolerations"):
        tolerated = spec.get("tolerations") or []
        more = [one for one in rules["tolerations"] if one not in tolerated]
        spec["tolerations"] = tolerated + more


def _ingress(backend: Backend, _: RequestContext, document: JSONObject) -> None:
    spec, notes = document.get("spec"), document["metadata"].get("annotations") or {}
    if not isinstance(spec, dict) or "ingressClassName" in spec or _OLD_INGRESS_CLASS in notes:
        return
    chosen = _default_of(backend, INGRESS, _INGRESS_DEFAULT)
    if chosen is not None:
        spec["ingressClassName"] = chosen


def _priority_class(backend: Backend, ctx: RequestContext, document: JSONObject) -> None:
    if not document.get("globalDefault"):
        return
    name = document["metadata"].get("name", "")
    for there in _all(backend, PRIORITIES, b'"globalDefault":true'):
        other = there["metadata"]["name"]
        if other != name:
            why = f"PriorityClass {other} is already marked as default. Only one default can exist"
            raise forbidden(ctx.resource.group_resource, name, why)


_STEPS = {
    GroupResource("", "pods"): _pod,
    GroupResource("networking.k8s.io", "ingresses"): _ingress,
    PRIORITIES: _priority_class,
}


def _all(backend: Backend, resource: GroupResource, text: bytes) -> Iterator[JSONObject]:
    # Whoever does not even have the text need not be decoded.
    for version in backend.caches.cacher(resource).list(ListRequest()).versions:
        if text in version.encoded.body:
            yield version.decode()


def _default_of(backend: Backend, resource: GroupResource, marks: tuple[str, ...]) -> str | None:
    """The name of the class that is marked as the default; of several the newest, by name."""
    found = [
        one["metadata"]
        for one in _all(backend, resource, b"is-default-class")
        if any((one["metadata"].get("annotations") or {}).get(mark) == "true" for mark in marks)
    ]
    found.sort(key=lambda metadata: str(metadata["name"]))
    found.sort(key=lambda metadata: str(metadata.get("creationTimestamp", "")), reverse=True)
    return str(found[0]["name"]) if found else None
