"""Every pod runs as a service account and carries its token: upstream's ServiceAccount plugin.

Off where no controller makes accounts (`--no-controllers`), as envtest has it. A namespace's
`default` account is made here if its controller has not come to that yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import StatusError, forbidden
from listwatch.protocol.objects import encode
from listwatch.registry import metadata as meta
from listwatch.registry.admission.request import CREATE, AdmissionRequest, Plugin, spec_of
from listwatch.registry.service_accounts import ACCOUNTS
from listwatch.store.writes import AlreadyStored, Create

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext

DEFAULT = "default"
_MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_MIRROR = "kubernetes.io/config.mirror"
_SECONDS = 3607  # upstream's own: told apart from an hour that somebody asked for


class ServiceAccountPlugin(Plugin):
    """Names the account, checks that it is there, and mounts its token."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._enabled = backend.options.service_account_admission

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """Every new pod."""
        return self._enabled and operation == CREATE and not ctx.subresource

    async def mutate(self, request: AdmissionRequest) -> None:
        """Raise 403 if the account is not there."""
        assert request.document is not None
        pod, namespace = request.document, request.ctx.namespace
        if _MIRROR in (pod["metadata"].get("annotations") or {}):
            return
        spec = spec_of(pod)
        name = spec.get("serviceAccountName") or spec.get("serviceAccount") or DEFAULT
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        account = await self._account(namespace, name)
        if account is None:
            why = (
                f'error looking up service account {namespace}/{name}: serviceaccount "{name}" '
                "not found"
            )
            raise forbidden(request.ctx.resource.group_resource, request.name, why)
        if _mounts(account, spec):
            _mount(spec)
        if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
            spec["imagePullSecrets"] = account["imagePullSecrets"]

    async def _account(self, namespace: str, name: str) -> JSONObject | None:
        for attempt in range(2):
            version = self._backend.cached(ACCOUNTS, namespace, name)
            if version is not None:
                return version.decode()
            if attempt == 0 and name == DEFAULT:
                await self._make(namespace)
            await self._backend.fresh()
        return None

    async def _make(self, namespace: str) -> None:
        metadata: JSONObject = {"name": DEFAULT, "namespace": namespace}
        meta.for_create(metadata, rfc3339(self._backend.clock.now()))
        document = {
            "kind": "ServiceAccount",
            "apiVersion": "v1",
            "metadata": meta.ordered(metadata),
        }
        try:
            await self._backend.submit(
                Create(ACCOUNTS, namespace, DEFAULT, metadata["uid"], encode(document))
            )
        except (AlreadyStored, StatusError):
            return  # its controller was quicker, or the pod's own write will say what is wrong


def _mounts(account: JSONObject, spec: JSONObject) -> bool:
    wanted = spec.get("automountServiceAccountToken")
    if wanted is None:
        wanted = account.get("automountServiceAccountToken")
    return wanted is not False


def _mount(spec: JSONObject) -> None:
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    lacking = [
        one
        for one in containers
        if not any(m.get("mountPath") == _MOUNT for m in one.get("volumeMounts") or ())
    ]
    if not lacking:
        return
    name = meta.generated_name("kube-api-access-")
    for container in lacking:
        mounts = container.get("volumeMounts") or []
        container["volumeMounts"] = [
            *mounts, {"name": name, "readOnly": True, "mountPath": _MOUNT},
        ]  # fmt: skip
    namespace = {
        "path": "namespace",
        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
    }
    authority = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": _SECONDS, "path": "token"}},
        {"configMap": authority},
        {"downwardAPI": {"items": [namespace]}},
    ]
    volume = {"name": name, "projected": {"sources": sources, "defaultMode": 420}}
    spec["volumes"] = [*(spec.get("volumes") or ()), volume]
