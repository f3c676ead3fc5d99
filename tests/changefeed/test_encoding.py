"""What selectors see of an object is taken out of it once, as the real server does."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.changefeed.encoding import field_value, version_of
from listwatch.protocol.kinds import GroupResource, Resource
from listwatch.protocol.objects import encode
from listwatch.protocol.versions import Change, ChangeType

PODS = Resource(
    "", "v1", "pods", "Pod", True, frozenset({"get"}),
    selectable_fields=("spec.nodeName", "status.podIPs", "spec.hostNetwork"),
)  # fmt: skip


def change(document: dict[str, Any], type_: ChangeType = ChangeType.ADDED) -> Change:
    return Change(
        7, GroupResource("", "pods"), "blue", "a", "u1", type_, encode(document), 0, 12.5
    )  # fmt: skip


def test_a_version_has_the_labels_and_fields_that_selectors_ask_for() -> None:
    document = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "a", "namespace": "blue", "labels": {"app": "web"}},
        "spec": {"nodeName": "n1"},
        "status": {"podIPs": [{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}]},
    }

    version = version_of(change(document), PODS)

    assert version.labels == {"app": "web"}
    assert version.fields == {
        "metadata.name": "a",
        "metadata.namespace": "blue",
        "spec.nodeName": "n1",
        "status.podIPs": "192.0.2.1,2001:db8::1",
        "spec.hostNetwork": "false",
    }
    assert (version.key, version.revision, version.committed_at) == ("blue/a", 7, 12.5)
    assert not version.deleted


def test_a_deletion_makes_a_tombstone_with_the_last_state() -> None:
    document = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"x": 1}}

    version = version_of(change(document, ChangeType.DELETED), PODS)

    assert version.deleted
    assert version.decode()["spec"] == {"x": 1}
    assert version.decode()["metadata"]["resourceVersion"] == "7"


def test_a_kind_that_is_not_served_has_name_and_namespace_alone() -> None:
    document = {"kind": "Odd", "apiVersion": "v1", "metadata": {"name": "a"}}

    assert version_of(change(document), None).fields == {
        "metadata.name": "a",
        "metadata.namespace": "blue",
    }


@pytest.mark.parametrize(
    ("document", "path", "expected"),
    [
        ({}, "spec.nodeName", ""),
        ({"spec": None}, "spec.nodeName", ""),
        ({"spec": {}}, "spec.unschedulable", "false"),
        ({"spec": {"unschedulable": True}}, "spec.unschedulable", "true"),
        ({"status": {}}, "status.replicas", "0"),
        ({"status": {"replicas": 3}}, "status.replicas", "3"),
        ({"spec": {"nodeName": "n2"}}, "spec.host", "n2"),
        ({"source": {"component": "kubelet"}}, "source", "kubelet"),
        ({"source": {}, "reportingComponent": "scheduler"}, "source", "scheduler"),
        ({"status": "odd"}, "status.phase", ""),
    ],
)
def test_a_missing_field_counts_as_the_zero_of_its_type(
    document: dict[str, object], path: str, expected: str
) -> None:
    assert field_value(document, path) == expected
