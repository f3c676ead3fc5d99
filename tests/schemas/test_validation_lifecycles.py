"""Faults of how containers end and start again, of projected files, and of what claims begin as."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from tests.schemas.validated import POD, Document, pod, told

NODE = GroupVersionKind("", "v1", "Node")
CLAIM = GroupVersionKind("", "v1", "PersistentVolumeClaim")
DEFAULT_GROUP = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
FAMILIES = "may specify no more than one CIDR for each IP family"


def container(**fields: Any) -> Document:  # Any: JSON
    return pod(containers=[{"name": "main", "image": "i", **fields}])


@pytest.mark.parametrize("hook", ["preStop", "postStart"])
@pytest.mark.parametrize(("seconds", "fits"), [(-1, False), (0, True), (30, True), (31, False)])
def test_a_container_sleeps_no_longer_than_its_pod_is_given(
    hook: str, seconds: int, fits: bool
) -> None:
    why = (
        f"spec.containers[0].lifecycle.{hook}.sleep: Invalid value: {seconds}: must be "
        "non-negative and less than terminationGracePeriodSeconds (30)"
    )
    sleep = {"sleep": {"seconds": seconds}}
    assert told(POD, container(lifecycle={hook: sleep})) == ([] if fits else [why])


def test_a_sidecar_does_not_either() -> None:
    hooks = {"preStop": {"sleep": {"seconds": 100}}}
    sidecar = {"name": "i", "image": "i", "restartPolicy": "Always", "lifecycle": hooks}

    (fault,) = told(POD, pod(initContainers=[sidecar], terminationGracePeriodSeconds=60))
    assert fault.startswith("spec.initContainers[0].lifecycle.preStop.sleep: Invalid value: 100")


@pytest.mark.parametrize("kind", ["containers", "initContainers"])
@pytest.mark.parametrize("policy", ["Foo", ""])
def test_a_container_is_started_again_in_one_of_three_ways(kind: str, policy: str) -> None:
    one = {"name": "i", "image": "i"}

    assert told(POD, pod(**{kind: [{**one, "restartPolicy": "OnFailure"}]})) == []
    assert told(POD, pod(**{kind: [{**one, "restartPolicy": policy}]})) == [
        (
            f'spec.{kind}[0].restartPolicy: Unsupported value: "{policy}": supported values: '
            '"Always", "Never", "OnFailure"'
        )
    ]


def test_rules_by_exit_code_go_with_a_policy() -> None:
    codes = {"operator": "In", "values": [1]}
    rules = [{"action": "Foo"}, {"action": "Restart", "exitCodes": {"operator": "Q"}}]
    good = {"action": "Restart", "exitCodes": codes}

    assert told(POD, container(restartPolicyRules=[good])) == [
        (
            "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when "
            "restart rules are used"
        )
    ]
    where = "spec.containers[0].restartPolicyRules"
    assert told(POD, container(restartPolicy="Never", restartPolicyRules=rules)) == [
        (
            f'{where}[0].action: Unsupported value: "Foo": supported values: "Restart", '
            '"RestartAllContainers"'
        ),
        f"{where}[0].exitCodes: Required value: must be specified",
        f'{where}[1].exitCodes.operator: Unsupported value: "Q": supported values: "In", "NotIn"',
    ]
    assert told(POD, container(restartPolicy="Never", restartPolicyRules=[good] * 21)) == [
        f"{where}: Too many: 21: must have at most 20 items"
    ]


def projected(*sources: Document, **spec: Any) -> list[str]:  # Any: JSON
    volume = {"name": "v", "projected": {"sources": list(sources)}}
    return told(POD, pod(volumes=[volume], **spec))


def test_files_of_a_projected_volume_have_paths_of_their_own() -> None:
    items = {"items": [{"key": "k", "path": "a"}]}
    named = {"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}
    bundle = {"clusterTrustBundle": {"name": "b", "path": "a"}}
    where = "spec.volumes[0].projected: Invalid value:"

    assert projected(
        {"secret": {"name": "s", **items}},
        {"configMap": {"name": "c", **items}},
        {"downwardAPI": {"items": [named]}},
        bundle,
    ) == [
        f'{where} "c": conflicting duplicate paths',
        f'{where} "a": conflicting duplicate paths',
    ]
    assert projected({"secret": {"name": "s"}}, {"secret": {"name": "t"}}) == []


def test_a_pod_without_an_account_has_no_token() -> None:
    token = {"serviceAccountToken": {"path": "t"}}
    where = "spec.volumes[0].projected.sources[0].serviceAccountToken"

    assert projected(token, serviceAccountName="a") == []
    assert projected(token) == [
        f"{where}: Forbidden: must not be specified when serviceAccountName is not set"
    ]
    assert projected({"serviceAccountToken": {"path": ""}}, serviceAccountName="a") == [
        "spec.volumes[0].projected.path: Required value"
    ]


def ranges(*many: str, one: str = "") -> list[str]:
    return told(NODE, {"spec": {"podCIDR": one, "podCIDRs": list(many)}})


def test_a_node_has_a_range_of_each_family() -> None:
    assert ranges("10.0.0.0/24", "2001:db8::/64") == []
    assert ranges("10.0.0.1/24") == []
    assert ranges("10.0.0.0/24", "10.0.1.0/24") == [
        f'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: {FAMILIES}'
    ]
    (bad, both) = ranges("10.0.0.0/24", "10.0.0.0")
    assert bad.startswith('spec.podCIDRs[1]: Invalid value: "10.0.0.0": must be a valid CIDR')
    assert both.endswith(FAMILIES)


def test_where_one_range_of_a_node_and_the_first_of_many_differ_the_one_is_meant() -> None:
    assert ranges("", one="10.0.0.0/24") == []
    assert ranges("10.0.0.0/24", "10.0.1.0/24", one="10.0.1.0/24") == []


def test_what_a_node_once_was_given_stays_its_own() -> None:
    old = {"spec": {"podCIDR": "10.0.0.0/24", "providerID": "a"}}
    why = 'Forbidden: node updates may not change {} except from "" to valid'

    assert told(NODE, {"spec": {}}, old) == [
        f"spec.podCIDRs: {why.format('podCIDR')}",
        f"spec.providerID: {why.format('providerID')}",
    ]
    assert told(NODE, old, {"spec": {}}) == []
    assert told(NODE, {"spec": {**old["spec"], "unschedulable": True}}, old) == []


def claim(**spec: Any) -> list[str]:  # Any: JSON
    size = {"requests": {"storage": "1Gi"}}
    return told(CLAIM, {"spec": {"accessModes": ["ReadWriteOnce"], "resources": size, **spec}})


def test_what_a_claim_begins_as_is_a_claim_or_of_another_group() -> None:
    other = {"kind": "Foo", "apiGroup": "a.test", "name": "a"}

    assert claim(dataSourceRef=other) == []
    assert claim(dataSourceRef={"kind": "Pod", "name": "a"}) == [
        f'spec.dataSourceRef: Invalid value: "Pod": {DEFAULT_GROUP}'
    ]
    (fault,) = claim(dataSourceRef={**other, "apiGroup": "B_"})
    assert fault.startswith('spec.dataSourceRef.apiGroup: Invalid value: "B_": a lowercase RFC')


def test_both_ways_to_say_what_a_claim_begins_as_say_the_same() -> None:
    one, other = ({"kind": "PersistentVolumeClaim", "name": name} for name in "ab")

    assert claim(dataSource=one, dataSourceRef=other) == [
        "spec: Invalid value: {}: must match dataSourceRef"
    ]
