"""Nobody grants what they do not have: asked before roles and bindings are written.

Upstream's pkg/registry/rbac/*/policybased. A refusal is a 403 that names what is missing; what is
allowed goes on to `create` or `change`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from listwatch.protocol.errors import StatusError, forbidden, not_found
from listwatch.protocol.kinds import GroupResource
from listwatch.registry.authorization.attributes import Attributes
from listwatch.registry.authorization.authorizer import MASTERS, Authorizer
from listwatch.registry.authorization.index import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    RBAC,
    ROLE_BINDINGS,
    ROLES,
    RoleKey,
)
from listwatch.registry.authorization.rules import ANY, Rule, go_strings, rules_of, uncovered

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import RequestContext, UserInfo

_EVERYTHING = (Rule((ANY,), (ANY,), (ANY,)), Rule((ANY,), urls=(ANY,)))
Check = Callable[[Authorizer, "RequestContext", "JSONObject", "JSONObject | None"], None]


def check_role(
    authorizer: Authorizer, ctx: RequestContext, role: JSONObject, old: JSONObject | None
) -> None:
    """Raise 403 if a role would hold more than its writer does, who may not `escalate`."""
    user, name = ctx.user, role["metadata"].get("name", "")
    if MASTERS in user.groups or (old is not None and _unchanged(role, old, "rules")):
        return
    resource = ctx.resource.group_resource
    escalate = Attributes("escalate", RBAC, resource.resource, "", ctx.namespace, ctx.name or name)
    if authorizer.allows(user, escalate):
        return
    rules = rules_of(role)
    if role.get("aggregationRule") and uncovered(authorizer.rules(user), _EVERYTHING):
        why = "must have cluster-admin privileges to use an aggregationRule"
        raise forbidden(resource, name, why)
    _check(authorizer, user, rules, ctx.namespace, resource, name)


def check_binding(
    authorizer: Authorizer, ctx: RequestContext, binding: JSONObject, old: JSONObject | None
) -> None:
    """Raise 403 if a binding would grant more than its writer has, who may not `bind` the role."""
    user, name = ctx.user, binding["metadata"].get("name", "")
    if MASTERS in user.groups or (old is not None and _unchanged(binding, old, "subjects")):
        return
    reference = binding.get("roleRef") or {}
    resource = ROLES if reference.get("kind") == "Role" else CLUSTER_ROLES
    wanted = reference.get("name", "")
    namespace = ctx.namespace if resource == ROLES else ""
    bind = Attributes("bind", RBAC, resource.resource, "", ctx.namespace, wanted)
    if authorizer.allows(user, bind):
        return
    authorizer.index.refresh()
    role = RoleKey(namespace, wanted)
    if not authorizer.index.has_role(role):
        raise not_found(resource, wanted)
    rules = authorizer.index.rules(role).rules
    _check(authorizer, user, rules, ctx.namespace, ctx.resource.group_resource, name)


CHECKS: dict[GroupResource, Check] = {
    ROLES: check_role,
    CLUSTER_ROLES: check_role,
    ROLE_BINDINGS: check_binding,
    CLUSTER_ROLE_BINDINGS: check_binding,
}


def _check(
    authorizer: Authorizer,
    user: UserInfo,
    rules: Sequence[Rule],
    namespace: str,
    resource: GroupResource,
    name: str,
) -> None:
    missing = uncovered(authorizer.rules(user, namespace), rules)
    if missing:
        raise _refused(user, missing, resource, name)


def _refused(
    user: UserInfo, missing: Sequence[Rule], resource: GroupResource, name: str
) -> StatusError:
    lines = "\n".join(str(rule) for rule in missing)
    why = (
        f'user "{user.name}" (groups={go_strings(user.groups)}) is attempting to grant RBAC '
        f"permissions not currently held:\n{lines}"
    )
    return forbidden(resource, name, why)


def _unchanged(document: JSONObject, old: JSONObject, *keys: str) -> bool:
    compared = (*keys, "roleRef", "aggregationRule")
    return all((document.get(key) or None) == (old.get(key) or None) for key in compared)
