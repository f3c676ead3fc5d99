from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from listwatch.protocol.objects import JSONObject
from listwatch.registry.context import SYSTEM
from listwatch.schemas.structural import cel_library
from tests.registry.house import House, configmap, deployment, refused

GROUP = "admissionregistration.k8s.io"
CONTROLLER = "authorizer.serviceAccount('kube-system', 'replicaset-controller')"
DEPLOYMENTS = {
    "operations": ["CREATE", "UPDATE"], "apiGroups": ["apps"], "apiVersions": ["v1"],
    "resources": ["deployments"],
}  # fmt: skip


async def policy(
    house: House, expression: str, *, bound: JSONObject | None = None, **spec: Any
) -> None:
    """A policy over deployments, and its binding."""
    validation = {"expression": expression, **spec.pop("validation", {})}
    document = {
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [DEPLOYMENTS]},
            "validations": [validation],
            **spec,
        },
    }
    binding = {
        "metadata": {"name": "b"},
        "spec": {"policyName": "p", "validationActions": ["Deny"], **(bound or {})},
    }
    await house.create("validatingadmissionpolicies", document, group=GROUP)
    await house.create("validatingadmissionpolicybindings", binding, group=GROUP)
    await house.registry.catch_up()


async def test_what_a_policy_says_no_to_is_refused(house: House) -> None:
    await policy(house, "object.spec.replicas <= 5")
    await house.create("deployments", deployment("d", replicas=5))

    error = await refused(house.create("deployments", deployment("e", replicas=6)))

    assert (error.code, error.reason) == (422, "Invalid")
    assert error.message == (
        "deployments.apps \"e\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' "
        "denied request: failed expression: object.spec.replicas <= 5"
    )
    await house.create("configmaps", configmap("a"))


async def test_updates_are_looked_at_with_what_was_before(house: House) -> None:
    await policy(house, "oldObject == null || object.spec.replicas >= oldObject.spec.replicas")
    made = await house.create("deployments", deployment("d", replicas=2))
    made["spec"]["replicas"] = 1

    assert (await refused(house.put("deployments", made))).code == 422


async def test_messages_and_reasons_are_the_policys(house: House) -> None:
    said = {"messageExpression": "'at most ' + string(variables.most)", "reason": "Forbidden"}
    await policy(
        house, "object.spec.replicas <= variables.most", validation=said,
        variables=[{"name": "most", "expression": "2 + 3"}],
    )  # fmt: skip

    error = await refused(house.create("deployments", deployment("d", replicas=6)))

    assert (error.code, error.reason) == (403, "Forbidden")
    assert error.message.endswith("denied request: at most 5")


async def test_parameters_are_objects(house: House) -> None:
    await house.create("configmaps", configmap("limits", data={"most": "3"}))
    await policy(
        house, "object.spec.replicas <= int(params.data.most)",
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        bound={"paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}},
    )  # fmt: skip

    await house.create("deployments", deployment("d", replicas=3))
    assert (await refused(house.create("deployments", deployment("e", replicas=4)))).code == 422

    await house.delete("configmaps", "limits")
    await house.registry.catch_up()
    error = await refused(house.create("deployments", deployment("e", replicas=1)))
    assert "no params found" in error.message


async def test_one_that_only_warns_lets_through(house: House) -> None:
    await policy(house, "object.spec.replicas <= 5", bound={"validationActions": ["Warn"]})
    ctx = house.ctx("deployments")

    await house.registry.create(ctx, deployment("d", replicas=6))

    (warning,) = ctx.warnings
    assert warning == (
        "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': "
        "failed expression: object.spec.replicas <= 5"
    )


async def test_conditions_say_whom_it_concerns(house: House) -> None:
    await policy(
        house, "false",
        matchConditions=[{"name": "c", "expression": "request.userInfo.username != 'tester'"}],
    )  # fmt: skip

    assert await house.create("deployments", deployment("d"))


@pytest.mark.parametrize("policy_of_failures", ["Fail", "Ignore"])
async def test_an_expression_without_a_value_counts_as_the_failure_policy_says(
    house: House, policy_of_failures: str
) -> None:
    await policy(house, "object.spec.nothing == 1", failurePolicy=policy_of_failures)

    if policy_of_failures == "Ignore":
        assert await house.create("deployments", deployment("d"))
        return
    error = await refused(house.create("deployments", deployment("d")))
    assert "resulted in error: no such key: nothing" in error.message


async def test_without_the_language_a_policy_says_what_to_install(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("listwatch.schemas.expressions.environment", lambda _: None)
    await policy(house, "true")

    error = await refused(house.create("deployments", deployment("d")))

    assert error.code == 422
    assert "pip install 'listwatch[cel]'" in error.message
    assert cel_library.environment() is not None  # of this house itself


async def test_a_policy_without_a_binding_says_nothing(house: House) -> None:
    await policy(house, "false", bound={"policyName": "another"})

    assert await house.create("deployments", deployment("d"))


async def test_expressions_ask_what_the_user_may_do(house: House) -> None:
    await policy(house, "authorizer.requestResource.check('escalate').allowed()")
    role = {"metadata": {"name": "r"}, "rules": [
        {"verbs": ["escalate"], "apiGroups": ["apps"], "resources": ["deployments"]}
    ]}  # fmt: skip
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "User", "name": "tester", "apiGroup": group}
    binding = {
        "metadata": {"name": "r"}, "subjects": [subject],
        "roleRef": {"kind": "ClusterRole", "name": "r", "apiGroup": group},
    }  # fmt: skip

    assert (await refused(house.create("deployments", deployment("d")))).code == 422
    system = replace(house.ctx("clusterroles", group=group), user=SYSTEM)
    await house.registry.create(system, role)
    system = replace(house.ctx("clusterrolebindings", group=group), user=SYSTEM)
    await house.registry.create(system, binding)
    await house.registry.catch_up()
    assert await house.create("deployments", deployment("d"))


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("authorizer.path('/healthz').check('get').allowed()", False),
        ("authorizer.group('').resource('pods').name('p').check('get').reason() == ''", True),
        (f"{CONTROLLER}.group('').resource('pods').check('create').allowed()", True),
        (f"{CONTROLLER}.group('').resource('pods').subresource('x').check('get').errored()", False),
        ("namespaceObject.metadata.name == 'default'", True),
    ],
)  # fmt: skip
async def test_the_authorizer_answers_for_anybody(
    house: House, expression: str, *, allowed: bool
) -> None:
    await policy(house, expression)

    if allowed:
        assert await house.create("deployments", deployment("d"))
    else:
        assert (await refused(house.create("deployments", deployment("d")))).code == 422
