"""LimitRanges: what containers ask for if they do not say, and how little or much they may.

Upstream: plugin/pkg/admission/limitranger. The refusals are its texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from listwatch.protocol.errors import forbidden
from listwatch.protocol.kinds import GroupResource
from listwatch.registry.admission.request import CREATE, DELETE, AdmissionRequest, Plugin, spec_of
from listwatch.schemas import amounts
from listwatch.schemas.amounts import Amounts, all_containers
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.store.writes import Guard

LIMIT_RANGES = GroupResource("", "limitranges")
_ANNOTATION = "kubernetes.io/limit-ranger"
_SHOWN = "persistentvolumeclaims"


class LimitRangePlugin(Plugin):
    """Fills in and checks the resources of pods and claims."""

    def __init__(self, backend: Backend) -> None:
        self._ranges = backend.caches.cacher(LIMIT_RANGES)

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """Where the namespace has a LimitRange, whatever changes amounts."""
        if operation == DELETE or not len(self._ranges.versions):
            return False
        is_claim = ctx.resource.resource == _SHOWN
        fits = (
            not ctx.subresource if operation == CREATE or is_claim else ctx.subresource == "resize"
        )
        return fits and bool(self._ranges.list(ListRequest(namespace=ctx.namespace)).versions)

    async def mutate(self, request: AdmissionRequest) -> None:
        """Fill in what a new pod's containers do not say."""
        if request.operation != CREATE or request.ctx.resource.resource == _SHOWN:
            return
        assert request.document is not None
        for limits in self._limits(request):
            for item in limits:
                if item.get("type") == "Container":
                    _fill(request.document, item)

    async def check(self, request: AdmissionRequest) -> Guard | None:
        """Raise 403 with everything that is too little or too much."""
        assert request.document is not None
        spec = request.document.get("spec") or {}
        is_claim = request.ctx.resource.resource == _SHOWN
        for limits in self._limits(request):
            faults = list(_claim_faults(spec, limits) if is_claim else _pod_faults(spec, limits))
            if faults:
                why = faults[0] if len(faults) == 1 else "[" + ", ".join(faults) + "]"
                raise forbidden(request.ctx.resource.group_resource, request.name, why)
        return None

    def _limits(self, request: AdmissionRequest) -> Iterator[list[JSONObject]]:
        listed = ListRequest(namespace=request.ctx.namespace)
        for version in self._ranges.list(listed).versions:
            yield (version.decode().get("spec") or {}).get("limits") or []


def _fill(pod: JSONObject, item: JSONObject) -> None:
    notes = []
    for place in ("containers", "initContainers"):
        word = "container" if place == "containers" else "init container"
        for container in spec_of(pod).get(place) or ():
            resources = container.get("resources") or {}
            for kind, source in (("requests", "defaultRequest"), ("limits", "default")):
                given = dict(resources.get(kind) or {})
                missing = {
                    name: value
                    for name, value in sorted((item.get(source) or {}).items())
                    if name not in given
                }
                if missing:
                    resources[kind] = given | missing
                    listed = ", ".join(missing)
                    notes.append(f"{listed} {kind[:-1]} for {word} {container.get('name', '')}")
            container["resources"] = resources
    if notes:
        annotations = pod["metadata"].get("annotations") or {}
        annotations[_ANNOTATION] = "LimitRanger plugin set: " + "; ".join(notes)
        pod["metadata"]["annotations"] = annotations


def _pod_faults(spec: JSONObject, limits: Iterable[JSONObject]) -> Iterator[str]:
    for item in limits:
        kind = item.get("type", "")
        if kind == "Container":
            for container in all_containers(spec):
                yield from _faults(
                    item, kind,
                    amounts.of_container(container, "requests"),
                    amounts.of_container(container, "limits"),
                )  # fmt: skip
        elif kind == "Pod":
            requests, maxima = amounts.of_pod(spec, "requests"), amounts.of_pod(spec, "limits")
            yield from _faults(item, kind, requests, maxima)


def _claim_faults(spec: JSONObject, limits: Iterable[JSONObject]) -> Iterator[str]:
    for item in limits:
        if item.get("type") == "PersistentVolumeClaim":
            requests = amounts.read((spec.get("resources") or {}).get("requests"))
            yield from _minimum_faults(item, "PersistentVolumeClaim", requests, {})
            for name, most in amounts.read(item.get("max")).items():
                head = f"maximum {name} usage per PersistentVolumeClaim is {most}"
                if name not in requests:
                    yield f"{head}.  No request is specified"
                elif most < requests[name]:
                    yield f"{head}, but request is {requests[name]}"


def _faults(item: JSONObject, kind: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _minimum_faults(item, kind, requests, limits)
    for name, most in amounts.read(item.get("max")).items():
        head = f"maximum {name} usage per {kind} is {most}"
        if name not in limits:
            yield f"{head}.  No limit is specified"
        elif most < limits[name]:
            yield f"{head}, but limit is {limits[name]}"
        elif name in requests and most < requests[name]:
            yield f"{head}, but request is {requests[name]}"
    for name, ratio in amounts.read(item.get("maxLimitRequestRatio")).items():
        head = f"{name} max limit to request ratio per {kind} is {ratio}"
        request, limit = requests.get(name), limits.get(name)
        if not request:
            yield f"{head}, but no request is specified or request is 0"
        elif not limit:
            yield f"{head}, but no limit is specified or limit is 0"
        elif (given := limit.milli / request.milli) > ratio.milli / 1000:
            yield f"{head}, but provided ratio is {given:f}"


def _minimum_faults(
    item: JSONObject, kind: str, requests: Amounts, limits: Amounts
) -> Iterator[str]:
    for name, least in amounts.read(item.get("min")).items():
        head = f"minimum {name} usage per {kind} is {least}"
        if name not in requests:
            yield f"{head}.  No request is specified"
        elif requests[name] < least:
            yield f"{head}, but request is {requests[name]}"
        elif name in limits and limits[name] < least:
            yield f"{head}, but limit is {limits[name]}"
