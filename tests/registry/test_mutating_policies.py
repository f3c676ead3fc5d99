"""Changes that policies write in CEL, and the objects they are made to."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.objects import JSONObject
from listwatch.schemas.object_literals import as_maps
from tests.registry.house import House, configmap, deployment, refused

GROUP = "admissionregistration.k8s.io"
DEPLOYMENTS = {
    "operations": ["CREATE", "UPDATE"], "apiGroups": ["apps"], "apiVersions": ["v1"],
    "resources": ["deployments"],
}  # fmt: skip


def apply(expression: str) -> JSONObject:
    return {
        "patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression},
    }  # fmt: skip


def patch(expression: str) -> JSONObject:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


async def policy(
    house: House, *mutations: JSONObject, name: str = "p", bound: JSONObject | None = None,
    **spec: Any,
) -> None:  # fmt: skip
    """A policy over deployments, and its binding."""
    document = {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [DEPLOYMENTS]},
            "mutations": list(mutations),
            "reinvocationPolicy": "Never",
            **spec,
        },
    }
    binding = {"metadata": {"name": name}, "spec": {"policyName": name, **(bound or {})}}
    await house.create("mutatingadmissionpolicies", document, group=GROUP)
    await house.create("mutatingadmissionpolicybindings", binding, group=GROUP)
    await house.registry.catch_up()


async def test_a_configuration_is_merged_as_applying_merges_it(house: House) -> None:
    sidecar = (
        "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{"
        'containers: [Object.spec.template.spec.containers{name: "mesh", image: "mesh:1"}]}}},'
        'metadata: Object.metadata{labels: {"meshed": "yes"}}}'
    )
    await policy(house, apply(sidecar))

    made = await house.create("deployments", deployment("d"))

    containers = made["spec"]["template"]["spec"]["containers"]
    assert {one["name"]: one["image"] for one in containers} == {
        "main": "img.test/app:1", "mesh": "mesh:1",
    }  # fmt: skip
    # What a policy adds is defaulted like all else.
    assert all(one["imagePullPolicy"] for one in containers)
    assert made["metadata"]["labels"] == {"meshed": "yes"}
    assert "meshed" not in str(made["metadata"]["managedFields"])
    await house.create("configmaps", configmap("a"))


async def test_json_patches_name_keys_as_pointers_do(house: House) -> None:
    operations = (
        '[JSONPatch{op: "add", path: "/metadata/labels", value: {}}, JSONPatch{op: "add", '
        'path: "/metadata/labels/" + jsonpatch.escapeKey("x.test/tier"), value: "back"}]'
    )
    await policy(house, patch(operations))

    made = await house.create("deployments", deployment("d"))

    assert made["metadata"]["labels"] == {"x.test/tier": "back"}


async def test_each_mutation_sees_what_the_ones_before_have_made(house: House) -> None:
    await policy(
        house,
        apply("Object{spec: Object.spec{replicas: 4}}"),
        patch('[JSONPatch{op: "replace", path: "/spec/replicas", '
              'value: object.spec.replicas + 1}]'),
    )  # fmt: skip

    assert (await house.create("deployments", deployment("d")))["spec"]["replicas"] == 5


async def test_parameters_variables_and_conditions_count(house: House) -> None:
    await house.create("configmaps", configmap("limits", data={"most": "3"}))
    await policy(
        house,
        apply("Object{spec: Object.spec{replicas: variables.most}}"),
        variables=[{"name": "most", "expression": "int(params.data.most)"}],
        matchConditions=[
            {"name": "many", "expression": "object.spec.replicas > int(params.data.most)"}
        ],
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        bound={"paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}},
    )

    many = await house.create("deployments", deployment("d", replicas=9))
    few = await house.create("deployments", deployment("e", replicas=2))

    assert [one["spec"]["replicas"] for one in (many, few)] == [3, 2]


async def test_one_that_asks_for_it_sees_what_another_changed(house: House) -> None:
    await policy(
        house,
        apply('Object{metadata: Object.metadata{labels: {"seen": string(object.spec.replicas)}}}'),
        name="a", reinvocationPolicy="IfNeeded",
    )  # fmt: skip
    await policy(house, apply("Object{spec: Object.spec{replicas: 6}}"), name="b")

    made = await house.create("deployments", deployment("d", replicas=1))

    assert made["metadata"]["labels"] == {"seen": "6"}


@pytest.mark.parametrize(
    ("mutation", "why"),
    [
        (apply("Object{spec: Object.spec{replicas: object.spec.absent}}"), "no such key: absent"),
        (apply('Object{spec: Object.spec{replicas: "x"}}'), "spec.replicas"),
        (apply("Object{spec: Object.spec{selector: Object.spec.selector{}}}"),
         "may not mutate atomic arrays, maps or structs: .spec.selector"),
        (patch('[JSONPatch{op: "remove", path: "/spec/absent"}]'), "absent"),
        (patch("1"), "must evaluate to a list of JSONPatch"),
    ],
)  # fmt: skip
async def test_what_cannot_be_made_is_refused_or_left(
    house: House, mutation: JSONObject, why: str
) -> None:
    await policy(house, mutation)

    error = await refused(house.create("deployments", deployment("d")))

    assert (error.code, error.reason) == (403, "Invalid")
    assert error.message.startswith("policy 'p' with binding 'p' denied request: ")
    assert why in error.message

    spec = {"spec": {"failurePolicy": "Ignore"}}
    await house.patch("mutatingadmissionpolicies", "p", spec, group=GROUP)
    await house.registry.catch_up()
    assert await house.create("deployments", deployment("d"))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Object{spec: Object.spec{replicas: 3}}", '{"spec": {"replicas": 3}}'),
        ('Object{metadata: Object.metadata{labels: {"a{b": x}}}',
         '{"metadata": {"labels": {"a{b": x}}}'),
        ("Object{?x: optional.none(), __namespace__: 1}",
         '{?"x": optional.none(), "namespace": 1}'),
        ("a ? Object{b: c ? d : e} : Object{}", 'a ? {"b": c ? d : e} : {}'),
        ("object.Object == 1 && Object", "object.Object == 1 && Object"),
        ("'Object{a: 1}' // Object{a: 1}", "'Object{a: 1}' // Object{a: 1}"),
    ],
)  # fmt: skip
def test_literals_with_types_are_read_as_maps(written: str, read: str) -> None:
    assert as_maps(written) == read
