"""Roles and bindings in few words, and who uses them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from listwatch.protocol.objects import JSONObject
from listwatch.registry.context import SYSTEM, UserInfo
from tests.registry.house import House, shown

RBAC = "rbac.authorization.k8s.io"
JANE = UserInfo("jane", groups=("dev", "system:authenticated"))


def rule(verbs: str, resources: str, *, group: str = "", **more: Any) -> JSONObject:
    """`rule("get list", "pods pods/log")`."""
    return {
        "verbs": verbs.split(), "apiGroups": [group], "resources": resources.split(), **more,
    }  # fmt: skip


def role(name: str, *rules: JSONObject, **more: Any) -> JSONObject:
    return {"metadata": {"name": name}, "rules": list(rules), **more}


def binding(name: str, kind: str, bound: str, *subjects: str) -> JSONObject:
    """Subjects as `User/jane`, `Group/dev`, `ServiceAccount/default/bob`."""
    listed = []
    for subject in subjects:
        kind_of, *names = subject.split("/")
        if kind_of == "ServiceAccount":
            listed.append({"kind": kind_of, "namespace": names[0], "name": names[1]})
        else:
            listed.append({"kind": kind_of, "apiGroup": RBAC, "name": names[0]})
    reference = {"apiGroup": RBAC, "kind": kind, "name": bound}
    return {"metadata": {"name": name}, "roleRef": reference, "subjects": listed}


async def make(
    house: House, resource: str, document: JSONObject, user: UserInfo = SYSTEM
) -> JSONObject:
    """Create it as this user; what holds then is what a request would find."""
    group = RBAC if "role" in resource else ""
    ctx = replace(house.ctx(resource, group=group), user=user)
    made = shown(await house.registry.create(ctx, document))
    await house.registry.catch_up()
    return made
