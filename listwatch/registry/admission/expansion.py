"""A claim grows only where its storage class says that volumes can: PersistentVolumeClaimResize.

Upstream: plugin/pkg/admission/storage/persistentvolume/resize.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.errors import forbidden
from listwatch.protocol.quantities import Quantity
from listwatch.registry.admission.classes import STORAGE_CLASSES
from listwatch.registry.admission.request import UPDATE, AdmissionRequest, Plugin

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.store.writes import Guard

_BOUND_ONLY = "Only bound persistent volume claims can be expanded"
_EXPANDABLE_ONLY = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc "
    "must support resize"
)
_CLASS = "volume.beta.kubernetes.io/storage-class"  # where it stood before it had a field


class ClaimExpansionPlugin(Plugin):
    """Refuses to let a claim ask for more than can be given."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """A change of a claim itself."""
        return operation == UPDATE and not ctx.subresource

    async def check(self, request: AdmissionRequest) -> Guard | None:
        """Raise 403 for a claim that is not bound, or whose class does not allow it."""
        assert request.document is not None
        assert request.old is not None
        if _size(request.document) <= _size(request.old):
            return None
        why = ""
        if (request.old.get("status") or {}).get("phase") != "Bound":
            why = _BOUND_ONLY
        elif not await self._allows(request.document, request.old):
            why = _EXPANDABLE_ONLY
        if why:
            raise forbidden(request.ctx.resource.group_resource, request.name, why)
        return None

    async def _allows(self, claim: JSONObject, old: JSONObject) -> bool:
        name = _class(claim)
        if not name or name != _class(old):
            return False
        found = self._backend.cached(STORAGE_CLASSES, "", name)
        if found is None or not found.decode().get("allowVolumeExpansion"):
            await self._backend.fresh()  # it may have been allowed a moment ago
            found = self._backend.cached(STORAGE_CLASSES, "", name)
        return found is not None and bool(found.decode().get("allowVolumeExpansion"))


def _size(claim: JSONObject) -> Quantity:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return Quantity.parse(requests.get("storage") or "0")


def _class(claim: JSONObject) -> str:
    annotations = claim["metadata"].get("annotations") or {}
    return annotations.get(_CLASS) or (claim.get("spec") or {}).get("storageClassName") or ""
