"""Kinds as data: what is served, under which names, with which verbs and columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from listwatch.protocol.custom_kinds import CustomKind


# Keys of nearly every lookup: tuples, because those are hashed and compared in C.
class GroupResource(NamedTuple):
    """A resource whatever its version, as `deployments.apps` or `pods`; it has one Cacher."""

    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource

    @classmethod
    def parse(cls, text: str) -> GroupResource:
        """Read the form that `str()` writes."""
        resource, _, group = text.partition(".")
        return cls(group, resource)


class GroupVersionKind(NamedTuple):
    """A kind in one version, as `apps/v1 Deployment`."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """`v1`, or `apps/v1`."""
        return api_version(self.group, self.version)


def api_version(group: str, version: str) -> str:
    """The `apiVersion` of objects: `v1`, or `apps/v1`."""
    return f"{group}/{version}" if group else version


def split_api_version(text: str) -> tuple[str, str]:
    """Group and version of an `apiVersion`; the core group is the empty one."""
    group, slash, version = text.partition("/")
    return (group, version) if slash else ("", group)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a resource's Table; priority above 0 shows with `-o wide` only."""

    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""


@dataclass(frozen=True, slots=True)
class Subresource:
    """A part of a resource with an address of its own; `kind` is what it takes and returns."""

    name: str
    kind: GroupVersionKind
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resource:
    """What one path segment serves in one version.

    `storage` names the resource whose objects these are: itself, but for a kind that is served in
    two groups (`events.k8s.io` reads and writes the objects of the core group's events).
    `selectable_fields` are the field selectors beyond `metadata.name` and `metadata.namespace`.
    """

    group: str
    version: str
    resource: str
    kind: str
    namespaced: bool
    verbs: frozenset[str]
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    columns: tuple[Column, ...] = ()
    selectable_fields: tuple[str, ...] = ()
    storage: GroupResource = field(default=GroupResource("", ""))
    custom: CustomKind | None = None  # what its definition says; None for a built-in kind

    # What follows from the rest, made once: each request asks for these a dozen times.
    api_version: str = field(init=False, repr=False, compare=False)  # `v1`, or `apps/v1`
    group_resource: GroupResource = field(init=False, repr=False, compare=False)  # of messages
    gvk: GroupVersionKind = field(init=False, repr=False, compare=False)  # of its objects
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        derive = partial(object.__setattr__, self)
        derive("api_version", api_version(self.group, self.version))
        derive("group_resource", GroupResource(self.group, self.resource))
        derive("gvk", GroupVersionKind(self.group, self.version, self.kind))
        if not self.storage.resource:
            derive("storage", self.group_resource)
        derive("_hash", hash((self.gvk, self.resource)))

    def __hash__(self) -> int:
        """By its names: those who keep something for a kind ask often, and the rest is long."""
        return self._hash

    @property
    def list_kind(self) -> str:
        """The kind of its lists."""
        return self.custom.list_kind if self.custom is not None else f"{self.kind}List"

    def subresource(self, name: str) -> Subresource | None:
        """The subresource of that name, if it has one."""
        return next((sub for sub in self.subresources if sub.name == name), None)
