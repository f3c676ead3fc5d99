"""Questions about access that cannot be answered: every fault is told, as the real server does."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.objects import JSONObject
from tests.registry.house import House, refused

GROUP = "authorization.k8s.io"
KINDS = {
    "subjectaccessreviews": "",
    "selfsubjectaccessreviews": "",
    "localsubjectaccessreviews": "default",
}
LOCAL = "localsubjectaccessreviews"
WANTED = {"verb": "get", "resource": "pods", "namespace": "default"}
NOTHING = (
    "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
    "resourceAttributes must be specified"
)
NOBODY = 'spec.user: Invalid value: "": at least one of user or group must be specified'


async def told(house: House, resource: str, **review: Any) -> list[str]:  # Any: JSON
    """The faults of a review, which is not answered."""
    ctx = house.ctx(resource, group=GROUP, namespace=KINDS[resource])
    error = await refused(house.registry.create(ctx, dict(review)))
    details = error.details

    assert (error.code, details["group"]) == (422, GROUP)
    # Upstream knows no kind here.
    assert "kind" not in details
    assert error.message.startswith(f'.{GROUP} "" is invalid: ')
    return [f"{cause.field}: {cause.message}" for cause in error.causes]


async def test_a_review_that_says_nothing_is_told_so_and_that_it_names_nobody(
    house: House,
) -> None:
    assert await told(house, "subjectaccessreviews", spec={}) == [NOTHING, NOBODY]
    assert await told(house, LOCAL) == [NOTHING, NOBODY]
    assert await told(house, "selfsubjectaccessreviews") == [NOTHING]


async def test_a_local_review_is_about_resources_of_its_namespace(house: House) -> None:
    path = {"path": "/a", "verb": "get"}
    shown = 'spec.nonResourceAttributes: Invalid value: {"Path":"/a","Verb":"get"}: '

    assert await told(
        house, LOCAL, spec={"user": "a", "resourceAttributes": {}, "nonResourceAttributes": path}
    ) == [
        f"{shown}cannot be specified in combination with resourceAttributes",
        'spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace',
        f"{shown}disallowed on this kind of request",
    ]


@pytest.mark.parametrize("resource", KINDS)
async def test_a_review_has_no_name(house: House, resource: str) -> None:
    spec: JSONObject = {"resourceAttributes": WANTED}
    if not resource.startswith("self"):
        spec["user"] = "a"
    (fault,) = await told(house, resource, metadata={"name": "x"}, spec=spec)

    assert fault.startswith('metadata: Invalid value: {"name":"x"')
    assert fault.endswith(f"must be empty{' except for namespace' if resource == LOCAL else ''}")


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (
            {},
            [("requirements: Required value: when spec.resourceAttributes.{} is specified, "
             "requirements or rawSelector is required")],
        ),
        (
            {"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}]},
            [('rawSelector: Invalid value: "a=b": may not specified at the same time as '
             "requirements")],
        ),
        (
            {"requirements": [
                {"key": "a", "operator": "In"},
                {"key": "a", "operator": "Exists", "values": ["x"]},
                {"key": "a", "operator": "Newer"},
            ]},
            [("requirements[0].values: Required value: must be specified when `operator` is 'In' "
             "or 'NotIn'"),
             ("requirements[1].values: Forbidden: may not be specified when `operator` is "
             "'Exists' or 'DoesNotExist'")],
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["fieldSelector", "labelSelector"])
async def test_selectors_of_what_is_asked_about(
    house: House, kind: str, selector: JSONObject, expected: list[str]
) -> None:
    spec = {"resourceAttributes": {**WANTED, kind: selector}}

    assert await told(house, "selfsubjectaccessreviews", spec=spec) == [
        f"spec.resourceAttributes.{kind}.{text.format(kind)}" for text in expected
    ]
