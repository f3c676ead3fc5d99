from __future__ import annotations

import pytest

from listwatch.api.impersonation import impersonated, wanted_user
from listwatch.protocol.errors import StatusError
from listwatch.protocol.kinds import GroupResource
from listwatch.registry.authorization.attributes import Attributes
from listwatch.registry.authorization.authorizer import Authorizer
from listwatch.registry.authorization.index import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    RoleIndex,
    RoleKey,
)
from listwatch.registry.context import UserInfo
from tests.api.asking import Face

LIST = Attributes("list", "", "pods", "", "ns")
HELPER = UserInfo("helper", groups=("system:authenticated",))


def authorizer(*rules: dict[str, list[str]]) -> Authorizer:
    """One in whose eyes the helper may do what these rules say."""
    index = RoleIndex()
    key = RoleKey("", "r")
    subject = {"kind": "User", "name": "helper"}
    documents: dict[GroupResource, dict[str, object]] = {
        CLUSTER_ROLES: {"metadata": {"name": "r"}, "rules": list(rules)},
        CLUSTER_ROLE_BINDINGS: {
            "metadata": {"name": "r"},
            "roleRef": {"kind": "ClusterRole", "name": "r"},
            "subjects": [subject],
        },
    }
    for resource, document in documents.items():
        index.put(resource, key, document)
    return Authorizer(index)


def rule(verb: str, group: str, resource: str, *names: str) -> dict[str, list[str]]:
    made = {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
    return {**made, "resourceNames": list(names)} if names else made


def test_who_may_impersonate_a_user_becomes_that_user() -> None:
    found = impersonated(
        authorizer(rule("impersonate", "", "users", "jane")), HELPER, UserInfo("jane"), LIST
    )

    assert found == UserInfo("jane", groups=("system:authenticated",))


def test_every_part_of_the_other_user_must_be_allowed() -> None:
    may = authorizer(rule("impersonate", "", "users"), rule("impersonate", "", "groups", "dev"))
    other = UserInfo("jane", groups=("dev",))

    assert "dev" in impersonated(may, HELPER, other, LIST).groups
    for more in (
        UserInfo("jane", groups=("dev", "ops")),
        UserInfo("jane", "uid"),
        UserInfo("jane", extra={"scope": ("all",)}),
    ):
        with pytest.raises(StatusError, match="cannot impersonate"):
            impersonated(may, HELPER, more, LIST)


def test_a_service_account_comes_with_its_groups() -> None:
    may = authorizer(rule("impersonate", "", "serviceaccounts", "bob"))

    found = impersonated(may, HELPER, UserInfo("system:serviceaccount:ns:bob"), LIST)

    assert found.groups == (
        "system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated",
    )  # fmt: skip


def test_one_may_be_allowed_to_do_one_thing_as_another() -> None:
    may = authorizer(
        rule("impersonate:user-info", "authentication.k8s.io", "users", "jane"),
        rule("impersonate-on:user-info:list", "", "pods"),
    )

    assert impersonated(may, HELPER, UserInfo("jane"), LIST).name == "jane"
    with pytest.raises(StatusError, match='cannot impersonate-on:user-info:delete resource "pods"'):
        impersonated(may, HELPER, UserInfo("jane"), LIST._replace(verb="delete"))


def test_nobody_becomes_a_master_by_a_constrained_way() -> None:
    may = authorizer(
        rule("impersonate:user-info", "authentication.k8s.io", "*"),
        rule("impersonate-on:user-info:list", "", "pods"),
    )

    with pytest.raises(StatusError, match="system:masters group is not allowed"):
        impersonated(may, HELPER, UserInfo("jane", groups=("system:masters",)), LIST)


def test_headers_say_who_shall_be_impersonated() -> None:
    headers = [
        (b"impersonate-user", b"jane"), (b"impersonate-group", b"a"), (b"impersonate-group", b"b"),
        (b"impersonate-uid", b"u"), (b"impersonate-extra-acme.test%2fproject", b"x"),
    ]  # fmt: skip

    assert wanted_user(headers) == UserInfo("jane", "u", ("a", "b"), {"acme.test/project": ("x",)})
    assert wanted_user([(b"accept", b"*/*")]) is None
    with pytest.raises(StatusError, match="without impersonating a user name"):
        wanted_user(headers[1:])


async def test_a_request_has_the_rights_of_the_impersonated() -> None:
    face = Face()
    path = "/api/v1/namespaces/ns/configmaps"

    answer = await face.ask("GET", path, headers={"impersonate-user": "jane"})

    assert answer.status == 403
    assert answer.json["message"].startswith('configmaps is forbidden: User "jane" cannot list')
