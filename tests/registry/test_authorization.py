from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import JSONObject
from listwatch.protocol.options import DeleteOptions
from listwatch.registry.authorization.attributes import Attributes
from listwatch.registry.authorization.bootstrap import default_objects
from listwatch.registry.authorization.rules import Rule, RuleSet, uncovered
from listwatch.registry.context import SYSTEM, UserInfo
from tests.registry.house import House, refused
from tests.registry.roles import JANE, RBAC, binding, make, role, rule

NAMED = rule("get", "secrets", resourceNames=["a"])
ANYBODY = UserInfo("x", groups=("system:authenticated",))


def allows(wanted: Attributes, *rules: JSONObject) -> bool:
    return RuleSet([Rule.of(one) for one in rules]).allows(wanted)


@pytest.mark.parametrize(
    ("given_rule", "wanted", "yes"),
    [
        (rule("get", "pods"), Attributes("get", "", "pods"), True),
        (rule("get", "pods"), Attributes("list", "", "pods"), False),
        (rule("get", "pods"), Attributes("get", "apps", "pods"), False),
        (rule("get", "pods"), Attributes("get", "", "pods", "log"), False),
        (rule("get", "pods/log"), Attributes("get", "", "pods", "log"), True),
        (rule("get", "pods/log"), Attributes("get", "", "pods"), False),
        (rule("*", "*", group="*"), Attributes("x", "y", "z", "s"), True),
        (rule("get", "*/scale", group="apps"), Attributes("get", "apps", "d", "scale"), True),
        (rule("get", "*/scale", group="apps"), Attributes("get", "apps", "d"), False),
        (rule("get", "pods/*"), Attributes("get", "", "pods", "log"), False),
        (NAMED, Attributes("get", "", "secrets", "", "", "a"), True),
        (NAMED, Attributes("get", "", "secrets", "", "", "b"), False),
        (NAMED, Attributes("get", "", "secrets"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["/a"]}, Attributes("get", path="/a"), True),
        ({"verbs": ["get"], "nonResourceURLs": ["/a"]}, Attributes("get", path="/a/b"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["/a/*"]}, Attributes("get", path="/a/b"), True),
        ({"verbs": ["*"], "nonResourceURLs": ["*"]}, Attributes("put", path="/x"), True),
        (rule("*", "*", group="*"), Attributes("get", path="/metrics"), False),
    ],
)  # fmt: skip
def test_a_rule_allows_what_it_names(given_rule: JSONObject, wanted: Attributes, yes: bool) -> None:
    assert allows(wanted, given_rule) is yes


_words = st.lists(st.sampled_from(["a", "b", "c", "*"]), min_size=1, max_size=3, unique=True)
_rules = st.builds(
    lambda v, g, r, n: Rule(tuple(v), tuple(g), tuple(r), tuple(n)),
    _words, _words, st.lists(st.sampled_from(["p", "p/s", "*/s", "*"]), min_size=1, max_size=2),
    st.lists(st.sampled_from(["n", "m"]), max_size=2),
)  # fmt: skip


@given(held=st.lists(_rules, max_size=3), asked=st.lists(_rules, max_size=2))
def test_whoever_holds_what_is_asked_can_do_nothing_less(
    held: list[Rule], asked: list[Rule]
) -> None:
    if uncovered(held, asked):
        return
    mine, theirs = RuleSet(held), RuleSet(asked)
    for verb in "abcx":
        for group in "abcx":
            for resource, part in (("p", ""), ("p", "s"), ("q", ""), ("q", "s")):
                for name in ("", "n", "o"):
                    wanted = Attributes(verb, group, resource, part, "", name)
                    assert mine.allows(wanted) or not theirs.allows(wanted)


async def test_a_role_counts_in_its_namespace_and_a_cluster_role_everywhere(house: House) -> None:
    await make(house, "roles", role("reader", rule("get", "pods")))
    await make(house, "rolebindings", binding("b", "Role", "reader", "Group/dev"))
    await make(house, "clusterroles", role("nodes", rule("get", "nodes")))
    await make(house, "clusterrolebindings", binding("b", "ClusterRole", "nodes", "User/jane"))
    authorizer = house.registry.authorizer

    pods = authorizer.decide(JANE, Attributes("get", "", "pods", "", "default"))

    assert pods.allowed
    assert pods.reason == (
        'RBAC: allowed by RoleBinding "b/default" of Role "reader" to Group "dev"'
    )
    assert not authorizer.allows(JANE, Attributes("get", "", "pods", "", "other"))
    assert not authorizer.allows(JANE, Attributes("get", "", "pods"))
    assert authorizer.allows(JANE, Attributes("get", "", "nodes", "", "", "n"))


async def test_a_binding_that_goes_takes_its_rights_along(house: House) -> None:
    await make(house, "roles", role("reader", rule("get", "pods")))
    await make(house, "rolebindings", binding("b", "Role", "reader", "ServiceAccount/default/bob"))
    bob = UserInfo("system:serviceaccount:default:bob")
    wanted = Attributes("get", "", "pods", "", "default")
    assert house.registry.authorizer.allows(bob, wanted)

    ctx = replace(house.ctx("rolebindings", "b", group=RBAC), user=SYSTEM)
    await house.registry.delete(ctx, DeleteOptions())
    await house.registry.catch_up()

    assert not house.registry.authorizer.allows(bob, wanted)


async def test_an_aggregated_role_has_what_its_parts_have_at_once(house: House) -> None:
    selector = {"matchLabels": {"part": "yes"}}
    whole = {"aggregationRule": {"clusterRoleSelectors": [selector]}}
    await make(house, "clusterroles", {"metadata": {"name": "whole"}, **whole})
    await make(house, "clusterrolebindings", binding("b", "ClusterRole", "whole", "Group/dev"))
    wanted = Attributes("get", "x.test", "things")
    assert not house.registry.authorizer.allows(JANE, wanted)

    part = role("part", rule("get", "things", group="x.test"))
    part["metadata"]["labels"] = {"part": "yes"}
    await make(house, "clusterroles", part)

    assert house.registry.authorizer.allows(JANE, wanted)


async def test_nobody_grants_what_they_do_not_have(house: House) -> None:
    await make(house, "roles", role("grantor", rule("create", "roles rolebindings", group=RBAC)))
    await make(house, "rolebindings", binding("b", "Role", "grantor", "Group/dev"))
    await make(house, "roles", role("reader", rule("get list", "configmaps")))

    made = await refused(make(house, "roles", role("more", rule("get list", "pods")), JANE))
    bound = await refused(
        make(house, "rolebindings", binding("c", "Role", "reader", "User/jane"), JANE)
    )

    assert made.code == 403
    assert made.message == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "jane" '
        '(groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not '
        'currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}'
    )
    assert (bound.code, bound.details["name"]) == (403, "c")


@pytest.mark.parametrize(("verb", "resource"), [("escalate", "roles"), ("bind", "roles")])
async def test_who_may_escalate_or_bind_may_grant_more(
    house: House, verb: str, resource: str
) -> None:
    await make(house, "clusterroles", role("grantor", rule(verb, resource, group=RBAC)))
    await make(house, "clusterrolebindings", binding("b", "ClusterRole", "grantor", "User/jane"))
    await make(house, "roles", role("reader", rule("get", "secrets")))

    if verb == "escalate":
        made = await make(house, "roles", role("more", rule("get", "secrets")), JANE)
    else:
        wanted = binding("c", "Role", "reader", "User/jane")
        made = await make(house, "rolebindings", wanted, JANE)

    assert made["metadata"]["resourceVersion"]


async def test_a_binding_keeps_the_role_that_it_binds(house: House) -> None:
    made = await make(house, "rolebindings", binding("b", "ClusterRole", "view", "User/jane"))
    made["roleRef"]["name"] = "edit"
    ctx = replace(house.ctx("rolebindings", "b", group=RBAC), user=SYSTEM)

    error = await refused(house.registry.update(ctx, made))

    assert error.code == 422
    assert error.message.endswith(
        'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole",'
        '"Name":"edit"}: cannot change roleRef'
    )


async def test_the_default_roles_are_there_and_give_what_they_promise(house: House) -> None:
    authorizer = house.registry.authorizer
    await make(house, "rolebindings", binding("b", "ClusterRole", "view", "User/jane"))

    assert authorizer.allows(ANYBODY, Attributes("get", path="/apis"))
    assert not authorizer.allows(UserInfo("system:anonymous"), Attributes("get", path="/apis"))
    assert authorizer.allows(JANE, Attributes("watch", "apps", "deployments", "", "default"))
    assert not authorizer.allows(JANE, Attributes("get", "", "secrets", "", "default"))


async def test_a_default_role_gains_what_it_lacks_and_keeps_what_was_added(house: House) -> None:
    ctx = replace(house.ctx("clusterroles", "system:basic-user", group=RBAC), user=SYSTEM)
    basic = (await house.registry.get(ctx)).decode()
    basic["rules"] = [rule("get", "things", group="x.test")]
    await house.registry.update(ctx, basic)

    await house.registry.bootstrap()

    rules = (await house.registry.get(ctx)).decode()["rules"]
    assert rules[0]["resources"] == ["things"]
    assert {"selfsubjectaccessreviews"} <= {name for one in rules for name in one["resources"]}


def test_every_default_binding_binds_a_role_that_is_there() -> None:
    objects = [document for _, document in default_objects()]
    roles = {(d["kind"], d["metadata"]["name"]) for d in objects if "rules" in d}
    bound = {(d["roleRef"]["kind"], d["roleRef"]["name"]) for d in objects if "roleRef" in d}

    assert bound <= roles


async def test_a_namespaced_role_cannot_speak_of_urls(house: House) -> None:
    bad = role("r", {"verbs": ["get"], "nonResourceURLs": ["/metrics"]})

    with pytest.raises(StatusError, match="namespaced rules cannot apply to non-resource URLs"):
        await make(house, "roles", bad)
