"""Classes that objects name, or that are taken for them: priorities of pods, storage of claims.

Upstream: plugin/pkg/admission/{priority,storage/storageclass/setdefault}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.errors import forbidden
from listwatch.protocol.kinds import GroupResource
from listwatch.registry.admission.request import CREATE, AdmissionRequest, Plugin, spec_of
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext

PRIORITY_CLASSES = GroupResource("scheduling.k8s.io", "priorityclasses")
STORAGE_CLASSES = GroupResource("storage.k8s.io", "storageclasses")
_PREEMPTION = "PreemptLowerPriority"
_IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_BUILT_IN = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


class PriorityPlugin(Plugin):
    """A new pod gets number and policy of the class that it names, or of the default one."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._classes = backend.caches.cacher(PRIORITY_CLASSES)

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """A new pod, where there are classes, or one is named or gone against."""
        if operation != CREATE or ctx.subresource or document is None:
            return False
        spec = spec_of(document)
        against = spec.get("preemptionPolicy") not in (None, _PREEMPTION)
        return bool(len(self._classes.versions) or spec.get("priorityClassName") or against)

    async def mutate(self, request: AdmissionRequest) -> None:
        """Raise 403 for a class that is not there, or for another number or policy than it has."""
        assert request.document is not None
        spec = spec_of(request.document)
        name = spec.get("priorityClassName") or ""
        found = self._named(name) if name else self._default()
        if name and found is None:
            await self._backend.fresh()
            found = self._named(name)
            if found is None and name not in _BUILT_IN:
                why = f"no PriorityClass with name {name} was found"
                raise forbidden(request.ctx.resource.group_resource, request.name, why)
        value = _BUILT_IN.get(name, 0) if found is None else int(found.get("value") or 0)
        given = spec.get("priority")
        if given is not None and given != value:
            why = (
                f"the integer value of priority ({given}) must not be provided in pod spec; "
                f"priority admission controller computed {value} from the given PriorityClass name"
            )
            raise forbidden(request.ctx.resource.group_resource, request.name, why)
        spec["priority"] = value
        policy = (found or {}).get("preemptionPolicy") or _PREEMPTION
        given = spec.setdefault("preemptionPolicy", policy)
        if given != policy:
            why = (
                f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; "
                f"priority admission controller computed {policy} from the given PriorityClass name"
            )
            raise forbidden(request.ctx.resource.group_resource, request.name, why)
        if found is not None:
            spec["priorityClassName"] = found["metadata"]["name"]

    def _named(self, name: str) -> JSONObject | None:
        version = self._classes.get("", name)
        return None if version is None else version.decode()

    def _default(self) -> JSONObject | None:
        classes = [v.decode() for v in self._classes.list(ListRequest()).versions]
        defaults = [one for one in classes if one.get("globalDefault")]
        return min(defaults, key=lambda one: int(one.get("value") or 0), default=None)


class StorageClassPlugin(Plugin):
    """A new claim that names no class gets the default one, if there is one."""

    def __init__(self, backend: Backend) -> None:
        self._classes = backend.caches.cacher(STORAGE_CLASSES)

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """A new claim, where there are classes."""
        return operation == CREATE and bool(len(self._classes.versions))

    async def mutate(self, request: AdmissionRequest) -> None:
        """Set the class; of several defaults the newest, then the first by name."""
        assert request.document is not None
        spec = spec_of(request.document)
        if spec.get("storageClassName") is not None:
            return
        found = [v.decode()["metadata"] for v in self._classes.list(ListRequest()).versions]
        defaults = [
            one for one in found if (one.get("annotations") or {}).get(_IS_DEFAULT) == "true"
        ]
        if defaults:
            newest = max(one["creationTimestamp"] for one in defaults)
            names = [one["name"] for one in defaults if one["creationTimestamp"] == newest]
            spec["storageClassName"] = min(names)
