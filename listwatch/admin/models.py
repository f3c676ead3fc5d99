"""A proxy model for every served kind: the rows of StoredObject that are its objects.

Their forms do not save models; `object_admin` hands every write to the registry.
"""

from __future__ import annotations

from typing import Any

from django.db import models

from listwatch.protocol.kinds import Resource
from listwatch.schemas.kinds import kept_resources
from listwatch.store.models import StoredObject

APP = "objects"


class KindManager(models.Manager[StoredObject]):
    """The objects of one kind, in key order."""

    def __init__(self, resource: Resource) -> None:
        super().__init__()
        self.resource = resource

    def get_queryset(self) -> models.QuerySet[StoredObject]:
        """Those of its resource only."""
        storage = self.resource.storage
        queryset = super().get_queryset()
        return queryset.filter(group=storage.group, resource=storage.resource)


def proxy_of(resource: Resource) -> type[StoredObject]:
    """A model of a resource's objects, named as its kind.

    A kind that stands in a second group has that group's first word before its name.
    """
    moved = resource.storage != resource.group_resource
    name = resource.kind
    plural = _words(resource.kind, resource.resource)
    if moved:
        name = resource.group.partition(".")[0].title() + name
        plural = f"{plural} ({resource.group})"
    attributes: dict[str, Any] = {  # Any: what a model class is made of
        "__module__": __name__,
        "__doc__": f"{resource.api_version} {resource.kind} as stored.",
        "kind": resource,
        "objects": KindManager(resource),
        "__str__": lambda self: self.key,
        "Meta": type(
            "Meta",
            (),
            {
                "proxy": True,
                "app_label": APP,
                "ordering": ["key"],
                "verbose_name": resource.kind,
                "verbose_name_plural": plural,
            },
        ),
    }
    return type(name, (StoredObject,), attributes)


def _words(kind: str, resource: str) -> str:
    """`ConfigMaps` for configmaps of the kind ConfigMap: the plural as it would be spoken."""
    if resource.startswith(kind.lower()):
        return kind + resource[len(kind) :]
    if kind.endswith("y") and resource == f"{kind[:-1].lower()}ies":
        return f"{kind[:-1]}ies"
    return resource.capitalize()


PROXIES = {
    (resource.group, resource.version, resource.resource): proxy_of(resource)
    for resource in kept_resources()
}
"""By group, version and resource."""
