"""What every namespace begins with: a service account, and the authority that its pods trust.

Upstream: pkg/controller/serviceaccount and pkg/controller/certificates/rootcacertpublisher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.controllers.controller import Controller
from listwatch.informer import Scope
from listwatch.informer.errors import AlreadyExistsError, ApiError, ForbiddenError
from listwatch.informer.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import APIResource, Deleted, SharedIndexInformer
    from listwatch.protocol.objects import JSONObject

ROOT_CA = "kube-root-ca.crt"
_DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)


class _OnePerNamespace(Controller):
    """Sees to one object of a fixed name in every namespace that is not going."""

    object_name: str

    def __init__(self, environment: Environment, resource: APIResource) -> None:
        super().__init__(environment)
        self.namespaces = self.informer(NAMESPACES)
        scope = Scope(field_selector=f"metadata.name={self.object_name}")
        self.objects: SharedIndexInformer = self.informer(resource, scope)
        self.follow(self.namespaces)
        self.objects.add_handler(
            on_update=lambda _, new: self.queue.add(new["metadata"]["namespace"]),
            on_delete=self._object_gone,
        )

    def _object_gone(self, gone: Deleted) -> None:
        self.queue.add(gone.namespace)

    async def reconcile(self, key: str) -> None:
        namespace = self.namespaces.lister.get_or_none(key)
        if namespace is None or "deletionTimestamp" in namespace["metadata"]:
            return
        found = self.objects.lister.get_or_none(f"{key}/{self.object_name}")
        try:
            await self.see_to(key, found)
        except AlreadyExistsError:
            return  # the cache will show it
        except ForbiddenError as error:
            if not _is_going(error):
                raise

    async def see_to(self, namespace: str, found: JSONObject | None) -> None:
        """Make it, or make it right."""
        raise NotImplementedError


class ServiceAccounts(_OnePerNamespace):
    """The account `default`, under which pods run that name none."""

    name = "serviceaccount-controller"
    object_name = "default"

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment, SERVICE_ACCOUNTS)

    async def see_to(self, namespace: str, found: JSONObject | None) -> None:
        """Make it where it is missing."""
        if found is None:
            metadata = {"name": self.object_name, "namespace": namespace}
            await self.client.create(SERVICE_ACCOUNTS, {"metadata": metadata})


class RootCAPublisher(_OnePerNamespace):
    """The config map `kube-root-ca.crt`, always with the server's own authority."""

    name = "root-ca-certificate-publisher-controller"
    object_name = ROOT_CA

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment, CONFIG_MAPS)
        self._data = {"ca.crt": environment.options.root_ca}

    async def see_to(self, namespace: str, found: JSONObject | None) -> None:
        """Make it where it is missing, and put right what others wrote into it."""
        if found is None:
            metadata = {
                "name": ROOT_CA,
                "namespace": namespace,
                "annotations": {"kubernetes.io/description": _DESCRIPTION},
            }
            await self.client.create(CONFIG_MAPS, {"metadata": metadata, "data": self._data})
        elif found.get("data") != self._data:
            await self.client.update(CONFIG_MAPS, {**found, "data": self._data})


def _is_going(error: ApiError) -> bool:
    return any(cause.reason == "NamespaceTerminating" for cause in error.causes)
