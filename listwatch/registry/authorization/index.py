"""From a subject to the roles that are bound to it, kept in step with the caches.

Reads what `watchcache` holds of roles and bindings: all of it once, afterwards only the events
that came since. `authorizer` asks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.kinds import GroupResource
from listwatch.registry.authorization.aggregation import Aggregation, selectors_of
from listwatch.registry.authorization.rules import RuleSet, rules_of
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Version
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.caches import Caches
    from listwatch.watchcache.versions import Versions

RBAC = "rbac.authorization.k8s.io"
ROLES = GroupResource(RBAC, "roles")
CLUSTER_ROLES = GroupResource(RBAC, "clusterroles")
ROLE_BINDINGS = GroupResource(RBAC, "rolebindings")
CLUSTER_ROLE_BINDINGS = GroupResource(RBAC, "clusterrolebindings")

_NOTHING = RuleSet(())


class RoleKey(NamedTuple):
    """A Role in its namespace, or a ClusterRole in none."""

    namespace: str
    name: str


class Grant(NamedTuple):
    """One subject of one binding."""

    role: RoleKey
    binding: RoleKey
    subject: str  # `User/jane`, `Group/testers`; a service account is the user of its name
    account: str = ""  # `name/namespace` if it was written as a service account

    @property
    def reason(self) -> str:
        """Why a request is allowed, as kube-apiserver says it."""
        name, namespace = self.binding.name, self.binding.namespace
        binding = (
            f'RoleBinding "{name}/{namespace}"' if namespace else f'ClusterRoleBinding "{name}"'
        )
        kind = "Role" if self.role.namespace else "ClusterRole"
        subject, _, who = self.subject.partition("/")
        if self.account:
            subject, who = "ServiceAccount", self.account
        return f'RBAC: allowed by {binding} of {kind} "{self.role.name}" to {subject} "{who}"'


class RoleIndex:
    """All roles and bindings, by what a decision looks for.

    Promises that after `refresh` it is at the revision that the caches are at. `refresh` costs
    under a microsecond when nothing has changed. Owned by the caches' event loop.
    """

    def __init__(self, caches: Caches | None = None) -> None:
        self._grants: dict[tuple[str, str], list[Grant]] = {}  # by namespace and subject
        self._bound: dict[RoleKey, list[Grant]] = {}  # by binding, to take them away again
        self._roles: dict[RoleKey, RuleSet] = {}
        self._aggregation = Aggregation()
        self._sources: tuple[_Source, ...] = ()
        if caches is not None:
            self._sources = tuple(
                _Source(caches.cacher(group_resource), partial(self.put, group_resource))
                for group_resource in (CLUSTER_ROLES, ROLES, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS)
            )

    def put(self, group_resource: GroupResource, key: RoleKey, document: JSONObject | None) -> None:
        """Take a role or a binding as it is now; None: it is gone."""
        if group_resource in (ROLES, CLUSTER_ROLES):
            self._put_role(key, document)
        else:
            self._put_binding(key, document)

    def refresh(self) -> None:
        """Take over what has happened since the last time."""
        for source in self._sources:
            source.refresh()

    def grants(self, namespace: str, subject: str) -> list[Grant]:
        """What is bound to a subject in a namespace ('' for everywhere)."""
        return self._grants.get((namespace, subject)) or []

    def rules(self, role: RoleKey) -> RuleSet:
        """The rules of a role; none if there is no such role."""
        found = self._roles.get(role)
        if found is None:
            return _NOTHING
        if self._aggregation.aggregates(role.name) and not role.namespace:
            return self._aggregation.rules(role.name, self._own_rules)
        return found

    def has_role(self, role: RoleKey) -> bool:
        """Whether there is such a role."""
        return role in self._roles

    def aggregated(self) -> Iterator[tuple[str, RuleSet]]:
        """Every aggregated cluster role, with the rules that it shall have."""
        for name in self._aggregation.names():
            yield name, self.rules(RoleKey("", name))

    def _own_rules(self, name: str) -> RuleSet:
        return self._roles.get(RoleKey("", name), _NOTHING)

    def _put_role(self, key: RoleKey, role: JSONObject | None) -> None:
        if role is None:
            self._roles.pop(key, None)
        else:
            self._roles[key] = RuleSet(rules_of(role))
        if not key.namespace:
            labels = (role or {}).get("metadata", {}).get("labels") or {}
            selectors = None if role is None else selectors_of(role)
            self._aggregation.put(key.name, None if role is None else labels, selectors)

    def _put_binding(self, key: RoleKey, binding: JSONObject | None) -> None:
        for grant in self._bound.pop(key, ()):
            grants = self._grants[key.namespace, grant.subject]
            grants.remove(grant)
            if not grants:
                del self._grants[key.namespace, grant.subject]
        if binding is None:
            return
        made = list(_grants(key, binding))
        if made:
            self._bound[key] = made
        for grant in made:
            self._grants.setdefault((key.namespace, grant.subject), []).append(grant)


_Put = Callable[[RoleKey, "JSONObject | None"], None]


class _Source:
    """One cacher, and how far it was read."""

    __slots__ = ("_cacher", "_known", "_put", "_received", "_revision", "_versions")

    def __init__(self, cacher: Cacher, put: _Put) -> None:
        self._cacher = cacher
        self._put = put
        self._versions: Versions | None = None
        self._received = -1
        self._revision = 0
        self._known: set[RoleKey] = set()

    def refresh(self) -> None:
        cacher = self._cacher
        if cacher.received == self._received and cacher.versions is self._versions:
            return
        if not cacher.ready:
            return
        if cacher.versions is not self._versions or cacher.floor > self._revision:
            gone = self._known - {RoleKey(v.namespace, v.name) for v in cacher.versions.live()}
            for key in gone:
                self._put(key, None)
            events = list(cacher.list(ListRequest()).versions)
            self._known -= gone
        else:
            events = cacher.ring.after(self._revision)
        self._versions, self._received = cacher.versions, cacher.received
        for event in events:
            self._take(event)
        self._revision = cacher.progress.applied

    def _take(self, event: Version) -> None:
        key = RoleKey(event.namespace, event.name)
        self._put(key, None if event.deleted else event.decode())
        if event.deleted:
            self._known.discard(key)
        else:
            self._known.add(key)


def _grants(key: RoleKey, binding: JSONObject) -> Iterator[Grant]:
    reference = binding.get("roleRef") or {}
    namespace = key.namespace if reference.get("kind") == "Role" else ""
    role = RoleKey(namespace, reference.get("name", ""))
    for subject in dict.fromkeys(map(_subject, binding.get("subjects") or ())):
        if subject is None:
            continue
        kind, namespace, name = subject
        if kind == "ServiceAccount":
            namespace = namespace or key.namespace
            account = f"{name}/{namespace}"
            user = f"User/system:serviceaccount:{namespace}:{name}"
            yield Grant(role, key, user, account)
        else:
            yield Grant(role, key, f"{kind}/{name}")


def _subject(subject: JSONObject) -> tuple[str, str, str] | None:
    kind = subject.get("kind", "")
    if kind not in ("User", "Group", "ServiceAccount"):
        return None
    return kind, subject.get("namespace") or "", subject.get("name", "")
