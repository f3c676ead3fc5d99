from __future__ import annotations

from listwatch.protocol.kinds import GroupVersionKind
from tests.schemas.validated import (
    LEASE,
    told,
)


def test_a_lease_lasts() -> None:
    assert told(LEASE, {"spec": {"leaseDurationSeconds": 0}}) == [
        "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"
    ]
    assert told(LEASE, {"spec": {"leaseTransitions": -1, "holderIdentity": ""}}) == [
        "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
    ]


def test_an_event_stands_beside_what_it_tells_of() -> None:
    gvk = GroupVersionKind("", "v1", "Event")
    event = {"metadata": {"name": "e", "namespace": "a"}, "involvedObject": {"namespace": "b"}}

    assert told(gvk, event) == [
        'involvedObject.namespace: Invalid value: "b": does not match event.namespace'
    ]
    event = {
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Node"},
    }
    assert told(gvk, event) == []


def test_taints_are_told_apart_by_key_and_effect() -> None:
    gvk = GroupVersionKind("", "v1", "Node")
    taint = {"key": "k", "effect": "NoSchedule"}

    assert told(gvk, {"spec": {"taints": [taint, taint, {"key": "k", "effect": "No"}]}}) == [
        (
            'metadata.taints[1]: Duplicate value: {"Key":"k","Value":"","Effect":"NoSchedule",'
            '"TimeAdded":null}: taints must be unique by key and effect pair'
        ),
        (
            'metadata.taints[2].effect: Unsupported value: "No": supported values: "NoSchedule", '
            '"PreferNoSchedule", "NoExecute"'
        ),
    ]


def test_of_a_kind_that_is_not_built_in_only_metadata_is_looked_at() -> None:
    own = GroupVersionKind("a.test", "v1", "Own")

    assert told(own, {"metadata": {"labels": {"a": "-"}}, "spec": 5})
    assert told(own, {"spec": 5}) == []
