"""The group versions that other servers answer, as the APIService objects have it.

Told of every APIService by the pump. `api.aggregation` asks for the server of a path, discovery for
all of them; `availability` says what it has found out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.protocol.kinds import GroupResource
from listwatch.registry.api_services.documents import NONE, RemoteDocuments

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Version
    from listwatch.watchcache.caches import Caches

API_SERVICES = GroupResource("apiregistration.k8s.io", "apiservices")
Key = tuple[str, str]  # group and version


@dataclass(frozen=True, slots=True)
class Remote:
    """A server of one group version, as its APIService has it."""

    name: str  # of the APIService
    group: str
    version: str
    namespace: str
    service: str
    port: int
    ca_bundle: str
    insecure: bool
    group_priority: int
    version_priority: int
    available: bool

    @property
    def path(self) -> str:
        """The root of what it serves."""
        return f"/apis/{self.group}/{self.version}"

    @property
    def host(self) -> str:
        """The name that its certificate must have."""
        return f"{self.service}.{self.namespace}.svc"


class Remotes:
    """All aggregated servers, and what they serve as far as they have said it.

    Belongs to the pump's event loop. What is served locally is not in here.
    """

    def __init__(self, caches: Caches) -> None:
        self._caches = caches
        self._remotes: dict[Key, Remote] = {}
        self._resources: dict[Key, Sequence[JSONObject]] = {}
        self._documents: dict[Key, RemoteDocuments] = {}
        self._listeners: list[Callable[[], None]] = []

    def find(self, group: str, version: str) -> Remote | None:
        """The server of a group version; None if no other one answers it."""
        return self._remotes.get((group, version))

    def all(self) -> tuple[Remote, ...]:
        """All of them, by group and version."""
        return tuple(self._remotes[key] for key in sorted(self._remotes))

    def resources(self, group: str, version: str) -> Sequence[JSONObject]:
        """What a server said last that it serves: entries of an APIResourceList."""
        return self._resources.get((group, version), ())

    def documents(self, remote: Remote) -> RemoteDocuments:
        """What a server said last about its schemas."""
        return self._documents.get((remote.group, remote.version), NONE)

    def documented(self, remote: Remote, documents: RemoteDocuments) -> None:
        """A server has told of its schemas."""
        if self.find(remote.group, remote.version) is not None:
            self._documents[remote.group, remote.version] = documents

    def openapi_v2(self) -> tuple[bytes, ...]:
        """The parts of the OpenAPI document that others have told, in the order of groups."""
        ranked = sorted(
            self.all(), key=lambda one: (-one.group_priority, one.group, -one.version_priority)
        )
        return tuple(part for one in ranked if (part := self.documents(one).part) is not None)

    def openapi_v3(self) -> dict[str, str]:
        """Where the documents of others are, by group version, as `apis/far.test/v1`."""
        known = {one.path.strip("/"): self.documents(one).url for one in self.all()}
        return {path: url for path, url in known.items() if url}

    def discovered(self, remote: Remote, resources: Sequence[JSONObject]) -> None:
        """A server has said what it serves."""
        key = (remote.group, remote.version)
        if self._resources.get(key) != resources:
            self._resources[key] = resources
            self._tell()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this whenever anything here changes."""
        self._listeners.append(listener)

    def filled(self) -> None:
        """Read all APIServices anew."""
        self._remotes.clear()
        for version in self._caches.cacher(API_SERVICES).versions.live():
            self._put(version.decode())
        self._tell()

    def changed(self, version: Version) -> None:
        """An APIService was written, or is gone."""
        document = version.decode()
        key, before = _key(document), dict(self._remotes)
        self._remotes.pop(key, None)
        if not version.deleted:
            self._put(document)
        if key not in self._remotes:
            self._resources.pop(key, None)
            self._documents.pop(key, None)
        if self._remotes != before or version.deleted:
            self._tell()

    def _put(self, document: JSONObject) -> None:
        remote = remote_of(document)
        if remote is not None:
            self._remotes[remote.group, remote.version] = remote

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()


def remote_of(document: JSONObject) -> Remote | None:
    """What an APIService says; None for one that is served here."""
    spec = document["spec"]
    service = spec.get("service")
    if service is None:
        return None
    conditions = (document.get("status") or {}).get("conditions") or ()
    return Remote(
        name=document["metadata"]["name"],
        group=spec.get("group") or "",
        version=spec.get("version") or "",
        namespace=service.get("namespace") or "",
        service=service.get("name") or "",
        port=service.get("port") or 443,
        ca_bundle=spec.get("caBundle") or "",
        insecure=bool(spec.get("insecureSkipTLSVerify")),
        group_priority=spec.get("groupPriorityMinimum") or 0,
        version_priority=spec.get("versionPriority") or 0,
        available=any(
            one.get("type") == "Available" and one.get("status") == "True" for one in conditions
        ),
    )


def _key(document: JSONObject) -> Key:
    return document["spec"].get("group") or "", document["spec"].get("version") or ""
