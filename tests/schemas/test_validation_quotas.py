"""Faults of quotas' scopes and of storage classes' topologies, as the real server tells them."""

from __future__ import annotations

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from tests.schemas.validated import Document, faults, told

QUOTA = GroupVersionKind("", "v1", "ResourceQuota")
CLASS = GroupVersionKind("storage.k8s.io", "v1", "StorageClass")
ONLY_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
    "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
    "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def quota(*scopes: str, **hard: str) -> Document:
    return {"spec": {"hard": hard, "scopes": list(scopes)}}


@pytest.mark.parametrize(
    ("scopes", "name", "fits"),
    [
        (("BestEffort",), "pods", True),
        (("BestEffort",), "cpu", False),
        (("Terminating",), "cpu", True),
        (("Terminating",), "requests.storage", False),
        (("Terminating",), "hugepages-2Mi", False),
        (("Terminating",), "count/a.test", True),
        (("PriorityClass",), "services", False),
        (("VolumeAttributesClass",), "requests.storage", True),
        (("VolumeAttributesClass",), "pods", False),
    ],
)
def test_a_scope_goes_with_what_its_objects_have(
    scopes: tuple[str, ...], name: str, fits: bool
) -> None:
    shown = f'["{scopes[0]}"]'
    why = f"spec.scopes: Invalid value: {shown}: unsupported scope applied to resource"
    assert told(QUOTA, quota(*scopes, **{name: "1"})) == ([] if fits else [why])


def test_a_selector_of_scopes() -> None:
    requirements = [
        {"scopeName": "BestEffort", "operator": "In"},
        {"scopeName": "Foo", "operator": "Exists", "values": ["a"]},
        {"scopeName": "NotBestEffort", "operator": "Bad"},
    ]
    spec = {"hard": {"cpu": "1"}, "scopeSelector": {"matchExpressions": requirements}}

    field = "spec.scopeSelector.matchExpressions"
    assert told(QUOTA, {"spec": spec}) == [
        (
            f'{field}: Invalid value: {{"MatchExpressions":[{{"ScopeName":"BestEffort","Operator":'
            '"In","Values":null},{"ScopeName":"Foo","Operator":"Exists","Values":["a"]},'
            '{"ScopeName":"NotBestEffort","Operator":"Bad","Values":null}]}: unsupported scope '
            "applied to resource"
        ),
        f'{field}.operator: Invalid value: "In": {ONLY_EXISTS}',
        (
            f"{field}.values: Required value: must be at least one value when `operator` is "
            "'In' or 'NotIn' for scope selector"
        ),
        f'{field}.scopeName: Invalid value: "Foo": unsupported scope',
        (
            f'{field}.values: Invalid value: ["a"]: must be no value when `operator` is '
            "'Exist' or 'DoesNotExist' for scope selector"
        ),
        f'{field}.operator: Invalid value: "Bad": {ONLY_EXISTS}',
        f'{field}.operator: Invalid value: "Bad": not a valid selector operator',
        f"{field}: Invalid value: null: conflicting scopes",
    ]


def test_classes_are_selected_by_their_names() -> None:
    requirement = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
    selector = {"matchExpressions": [requirement]}

    assert told(QUOTA, {"spec": {"hard": {"pods": "1"}, "scopeSelector": selector}}) == []


def test_scopes_stay_in_whatever_order() -> None:
    both = quota("NotBestEffort", "Terminating", pods="1")
    turned = quota("Terminating", "NotBestEffort", pods="1")

    assert told(QUOTA, turned, both) == []
    assert told(QUOTA, quota("Terminating", pods="1"), both) == [
        'spec.scopes: Invalid value: ["Terminating"]: field is immutable'
    ]


def test_what_is_used_is_named_and_measured_as_what_may_be() -> None:
    status = {"hard": {"a.test/b": "500m"}, "used": {"nonsense": "-1"}}

    assert told(QUOTA, {"spec": {}, "status": status}) == [
        'status.hard[a.test/b]: Invalid value: "500m": must be an integer',
        (
            'status.used[nonsense]: Invalid value: "nonsense": must be a standard resource type '
            "or fully qualified"
        ),
        'status.used[nonsense]: Invalid value: "nonsense": must be a standard resource for quota',
        'status.used[nonsense]: Invalid value: "-1": must be greater than or equal to 0',
    ]


def test_a_name_that_cannot_be_counted_is_told_of_as_such_too() -> None:
    assert told(QUOTA, {"spec": {"hard": {"storage": "1"}}}) == [
        'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota'
    ]
    (first, second) = told(QUOTA, {"spec": {"hard": {"a b": "1"}}})
    assert first.startswith('spec.hard[a b]: Invalid value: "a b": name part must consist of')
    assert second == 'spec.hard[a b]: Invalid value: "a b": must be a standard resource for quota'


def test_topologies_have_keys_and_values_and_each_says_something_else() -> None:
    terms = [
        {"matchLabelExpressions": [
            {"key": "a", "values": []},
            {"key": "b", "values": ["x", "x"]},
            {"key": "b", "values": ["y_"]},
            {"key": "B C", "values": ["a"]},
        ]},
        {"matchLabelExpressions": [{"key": "c", "values": ["a", "b"]}]},
        {"matchLabelExpressions": [{"key": "c", "values": ["b", "a"]}]},
    ]  # fmt: skip
    told_of = told(CLASS, {"provisioner": "a/b", "allowedTopologies": terms})

    field = "allowedTopologies[0].matchLabelExpressions"
    assert told_of.pop(3).startswith(f'{field}[3].key: Invalid value: "B C": name part must')
    assert told_of == [
        f"{field}[0].values: Required value",
        f'{field}[1].values[1]: Duplicate value: "x"',
        f'{field}[2].key: Duplicate value: "b"',
        'allowedTopologies[2].matchLabelExpressions: Duplicate value: ""',
    ]


def test_a_topology_that_says_nothing_is_told_of_as_one_of_as_many() -> None:
    fields = [cause.field for cause in faults(CLASS, {
        "provisioner": "a/b", "allowedTopologies": [{}, {}],
    })]  # fmt: skip

    first, second = (f"allowedTopologies[{index}].matchLabelExpressions" for index in (0, 1))
    assert fields == [first, first, second, second, second]
