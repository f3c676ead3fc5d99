"""Faults of device requests, classes and slices, as a Status of the real server tells them."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from tests.schemas.validated import LABEL, Document, told

GROUP = "resource.k8s.io"
CLAIM = GroupVersionKind(GROUP, "v1", "ResourceClaim")
TEMPLATE = GroupVersionKind(GROUP, "v1", "ResourceClaimTemplate")
CLASS = GroupVersionKind(GROUP, "v1", "DeviceClass")
SLICE = GroupVersionKind(GROUP, "v1", "ResourceSlice")
WANTED = {"deviceClassName": "c"}
IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    "validation is '[A-Za-z_][A-Za-z0-9_]*')"
)
UNKNOWN = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)


def asked(**devices: Any) -> list[str]:  # Any: JSON
    """What a claim is refused for, without where its devices stand."""
    told_of = told(CLAIM, {"spec": {"devices": devices}})
    return [text.removeprefix("spec.devices.") for text in told_of]


def offered(**spec: Any) -> list[str]:  # Any: JSON
    pool = {"name": "p", "resourceSliceCount": 1}
    whole = {"driver": "d.test", "pool": pool, "allNodes": True, **spec}
    given = {name: value for name, value in whole.items() if value is not None}
    return told(SLICE, {"spec": given})


def device(**parts: Any) -> list[str]:  # Any: JSON
    told_of = offered(devices=[{"name": "a", **parts}])
    return [text.removeprefix("spec.devices[0]") for text in told_of]


def test_requests_have_names_of_their_own_and_say_one_thing() -> None:
    one = "exactly one of `exactly` or `firstAvailable` is required"
    both = {"exactly": WANTED, "firstAvailable": [{"name": "x", **WANTED}]}

    assert asked(requests=[{"name": "", "exactly": {}}, {"name": "b"}, {"name": "b", **both}]) == [
        f'requests[0].name: Invalid value: "": {LABEL}',
        "requests[0].exactly.deviceClassName: Required value",
        f"requests[1]: Required value: {one}",
        f"requests[2]: Invalid value: null: {one}, but multiple fields are set",
        'requests[2]: Duplicate value: "b"',
    ]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            {"allocationMode": "Foo"},
            'allocationMode: Unsupported value: "Foo": supported values: "All", "ExactCount"',
        ),
        (
            {"allocationMode": "All", "count": 5},
            "count: Invalid value: 5: must not be specified when allocationMode is 'All'",
        ),
        ({"count": -1}, "count: Invalid value: -1: must be greater than zero"),
        ({"selectors": [{}]}, "selectors[0].cel: Required value"),
        (
            {"selectors": [{"cel": {"expression": "x" * 10_241}}]},
            "selectors[0].cel.expression: Too long: may not be more than 10240 bytes",
        ),
        (
            {"selectors": [{}] * 33},
            "selectors: Too many: 33: must have at most 32 items",
        ),
        (
            {"tolerations": [{"key": "a", "operator": "Bad"}]},
            (
                'tolerations[0].operator: Unsupported value: "Bad": supported values: "Equal", '
                '"Exists"'
            ),
        ),
        (
            {"tolerations": [{"operator": "Exists", "value": "x"}]},
            'tolerations[0].value: Invalid value: "x": must be empty for operator `Exists`',
        ),
        (
            {"tolerations": [{"key": "a", "effect": "Foo"}]},
            (
                'tolerations[0].effect: Unsupported value: "Foo": supported values: "NoExecute", '
                '"NoSchedule", "None"'
            ),
        ),
    ],
)
def test_what_is_wanted_exactly_or_as_a_choice(more: Document, expected: str) -> None:
    choices = [{"name": "x", **WANTED, **more}]

    assert asked(requests=[{"name": "b", "exactly": {**WANTED, **more}}]) == [
        f"requests[0].exactly.{expected}"
    ]
    assert asked(requests=[{"name": "b", "firstAvailable": choices}]) == [
        f"requests[0].firstAvailable[0].{expected}"
    ]


def test_selectors_are_expressions() -> None:
    pytest.importorskip("cel_expr_python")
    semver = "device.attributes['a.test'].version.compareTo(semver('1.0.0')) >= 0"
    selectors = [{"cel": {"expression": text}} for text in (semver, "a b")]
    (fault,) = asked(requests=[{"name": "b", "exactly": {**WANTED, "selectors": selectors}}])

    assert fault.startswith(
        'requests[0].exactly.selectors[1].cel.expression: Invalid value: "a b": compilation failed'
    )


def test_constraints_and_configuration_refer_to_requests() -> None:
    requests = [
        {"name": "b", "exactly": WANTED},
        {"name": "f", "firstAvailable": [{"name": "x", **WANTED}]},
    ]
    names = ["b", "b", "c", "f", "f/x", "f/y", "a/b/c"]
    opaque = {"driver": "d.test", "parameters": {}}
    told_of = asked(
        requests=requests,
        constraints=[{"requests": names, "matchAttribute": "a.test/b"}],
        config=[{"requests": ["z"], "opaque": opaque}],
    )

    assert told_of == [
        f'constraints[0].requests[2]: Invalid value: "c": {UNKNOWN}',
        f'constraints[0].requests[5]: Invalid value: "f/y": {UNKNOWN}',
        f'constraints[0].requests[6]: Invalid value: "a/b/c": {UNKNOWN}',
        'constraints[0].requests[1]: Duplicate value: "b"',
        f'config[0].requests[0]: Invalid value: "z": {UNKNOWN}',
    ]


def test_constraints_are_about_an_attribute_with_its_domain() -> None:
    assert asked(
        constraints=[
            {},
            {"matchAttribute": "a"},
            {"distinctAttribute": "/"},
            {"matchAttribute": "a.test/B C"},
        ]
    ) == [
        (
            'constraints[0]: Required value: exactly one of "matchAttribute" or '
            '"distinctAttribute" is required, but multiple fields are set'
        ),
        (
            'constraints[1].matchAttribute: Invalid value: "a": a fully qualified name must be a '
            "domain and a name separated by a slash"
        ),
        'constraints[2].distinctAttribute: Invalid value: "": the domain must not be empty',
        'constraints[2].distinctAttribute: Invalid value: "": the name must not be empty',
        f'constraints[3].matchAttribute: Invalid value: "B C": {IDENTIFIER}',
    ]


def test_what_is_asked_for_stays() -> None:
    old, new = ({"spec": {"devices": {"requests": [{"name": n}]}}} for n in ("a", "A"))
    (fault,) = told(CLAIM, new, old)

    assert fault.startswith("spec: Invalid value: ")
    assert fault.endswith(": field is immutable")


def test_what_a_driver_is_told_stays_though_true_is_as_good_as_one() -> None:
    old, new = (
        {"spec": {"devices": {"config": [
            {"opaque": {"driver": "d.test", "parameters": {"x": value}}}
        ]}}}
        for value in (1, True)
    )  # fmt: skip

    assert told(CLAIM, old, old) == []
    assert len(told(CLAIM, new, old)) == 1


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        (None, "Required value"),
        ({}, ""),
        ([], 'Invalid value: "<value omitted>": must be a valid JSON object'),
        (0, 'Invalid value: "<value omitted>": must be a valid JSON object'),
        ("é", 'Invalid value: "<value omitted>": must be a valid JSON object'),
        ("x" * 10_240, "Too long: may not be more than 10240 bytes"),
    ],
)
def test_what_a_driver_is_told_is_an_object(parameters: Any, fault: str) -> None:  # Any: JSON
    config = [{"opaque": {"driver": "d.test", "parameters": parameters}}]
    expected = [f"config[0].opaque.parameters: {fault}"] if fault else []

    assert asked(config=config) == expected
    assert told(CLASS, {"spec": {"config": config}}) == [f"spec.{text}" for text in expected]


def test_a_template_gives_labels_that_are_some() -> None:
    told_of = told(TEMPLATE, {"spec": {"metadata": {"labels": {"a b": "c"}}, "spec": {}}})

    assert [text.partition(": name")[0] for text in told_of] == [
        'spec.metadata.labels: Invalid value: "a b"'
    ]


def test_a_class_configures_drivers_and_has_a_resource_of_another_domain() -> None:
    config = [{}, {"opaque": {"driver": ""}}]

    assert told(CLASS, {"spec": {"config": config, "extendedResourceName": "a"}}) == [
        "spec.config[0].opaque: Required value",
        "spec.config[1].opaque.driver: Required value",
        "spec.config[1].opaque.parameters: Required value",
        'spec.extendedResourceName: Invalid value: "a": must be a valid extended resource name',
    ]
    assert told(CLASS, {"spec": {"extendedResourceName": "a.test/b"}}) == []


def test_a_slice_is_of_a_pool_and_for_nodes() -> None:
    pool = {"name": "", "resourceSliceCount": 0, "generation": -1}
    choices = "`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`"

    assert offered(driver="", pool=pool, allNodes=None) == [
        "spec.driver: Required value",
        "spec.pool.name: Required value",
        "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
        "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
        f"spec: Required value: exactly one of {choices} is required",
    ]
    assert offered(nodeName="a") == [
        (
            'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of '
            f"{choices} is required, but multiple fields are set"
        )
    ]
    assert offered(nodeName="") == [
        'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string'
    ]


def test_a_slice_stays_with_its_driver_pool_and_node() -> None:
    pool = {"resourceSliceCount": 1}
    old = {"spec": {"driver": "d", "nodeName": "n", "pool": {"name": "p", **pool}}}
    new = {"spec": {"driver": "e", "nodeName": "m", "pool": {"name": "q", **pool}}}

    assert told(SLICE, new, old) == [
        'spec.pool.name: Invalid value: "q": field is immutable',
        'spec.driver: Invalid value: "e": field is immutable',
        'spec.nodeName: Invalid value: "m": field is immutable',
    ]


def test_counters_are_named_and_stand_in_slices_of_their_own() -> None:
    counters = {"counters": {"a": {"value": "1"}}}
    sets = [{"name": ""}, {"name": "x", **counters}, {"name": "x", **counters}]

    assert offered(sharedCounters=sets) == [
        "spec.sharedCounters[0].name: Required value",
        "spec.sharedCounters[0].counters: Required value",
        'spec.sharedCounters[2]: Duplicate value: "x"',
    ]
    assert offered(sharedCounters=sets[1:2], devices=[{"name": "a"}]) == [
        'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'
    ]


def test_devices_are_named_once_and_not_too_many() -> None:
    taint = {"key": "a", "effect": "NoExecute"}

    assert offered(devices=[{"name": "a"}, {"name": "a"}, {"name": "A_"}]) == [
        f'spec.devices[2].name: Invalid value: "A_": {LABEL}',
        'spec.devices[1]: Duplicate value: "a"',
    ]
    assert offered(devices=[{"name": f"a{n}"} for n in range(129)]) == [
        "spec.devices: Too many: 129: must have at most 128 items"
    ]
    assert offered(devices=[{"name": f"a{n}", "taints": [taint]} for n in range(65)]) == [
        "spec.devices: Too many: 65: must have at most 64 items"
    ]


def test_attributes_have_one_value_each() -> None:
    attributes = {
        "a b": {"int": 1},
        "x/y/z": {"int": 1},
        "c": {"string": "x" * 65},
        "d": {"version": "1.2"},
        "e": {"version": "1.2.3-a+b"},
        "f": {},
    }

    assert device(attributes=attributes) == [
        f'.attributes: Invalid value: "a b": {IDENTIFIER}',
        ".attributes[c].string: Too long: may not be more than 64 bytes",
        (
            '.attributes[d].version: Invalid value: "1.2": must be a string compatible with '
            "semver.org spec 2.0.0"
        ),
        '.attributes[f]: Invalid value: "": exactly one value must be specified',
    ]
    assert device(attributes={f"a{n}": {"int": 1} for n in range(33)}) == [
        ": Invalid value: 33: the total number of attributes and capacities must not exceed 32"
    ]


def test_only_a_device_that_several_may_have_says_how_much_of_it_each_asks_for() -> None:
    policy = {"default": "1", "validValues": ["2", "2"]}
    capacity = {"a": {"value": "10", "requestPolicy": policy}}
    field = ".capacity[a].requestPolicy"

    assert device(capacity=capacity) == [
        f"{field}: Forbidden: allowMultipleAllocations must be true"
    ]
    assert device(capacity=capacity, allowMultipleAllocations=True) == [
        f'{field}.validValues[1]: Duplicate value: "2"',
        (
            f'{field}.validValues: Invalid value: "1": default value is not valid according to the '
            "requestPolicy"
        ),
    ]


def test_a_range_holds_its_default_in_steps() -> None:
    bounds = {"min": "4", "max": "2", "step": "3"}
    policy = {"default": "3", "validRange": bounds}
    capacity = {"b": {"value": "10", "requestPolicy": policy}}
    field, step = ".capacity[b].requestPolicy.validRange", "value is not a multiple of a given step"

    assert device(capacity=capacity, allowMultipleAllocations=True) == [
        f'{field}.min: Invalid value: "3": default is less than min: 4',
        f'{field}.max: Invalid value: "4": min is larger than max: 2',
        f'{field}.max: Invalid value: "3": default is more than max: 2',
        f'{field}.step: Invalid value: "3": {step} (3) from (4)',
        f'{field}.step: Invalid value: "2": {step} (3) from (4)',
    ]


def test_taints_counters_and_conditions_of_a_device() -> None:
    assert device(taints=[{"key": "a"}]) == [".taints[0].effect: Required value"]
    assert device(consumesCounters=[{}]) == [
        ".consumesCounters[0].counterSet: Required value",
        ".consumesCounters[0].counters: Required value",
    ]
    assert device(bindingConditions=["a", "a"], bindingFailureConditions=["a", "b"]) == [
        '.bindingConditions[1]: Duplicate value: "a"',
        (
            '.bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not '
            "overlap with bindingConditions"
        ),
    ]
    assert device(bindingFailureConditions=["a"]) == [
        (
            ".bindingConditions: Invalid value: null: bindingConditions are required to use "
            "bindingFailureConditions"
        )
    ]


def test_devices_choose_nodes_where_the_slice_lets_them() -> None:
    let = "when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
    one = f"exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required {let}"
    devices = [{"name": "a"}, {"name": "b", "nodeName": "n", "allNodes": True}]

    assert offered(allNodes=None, perDeviceNodeSelection=True, devices=devices) == [
        f"spec.devices[0]: Required value: {one}",
        f'spec.devices[1]: Invalid value: "{{`nodeName`, `allNodes`}}": {one}',
    ]
    assert device(nodeName="n") == [
        (
            ": Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if "
            "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
        )
    ]
