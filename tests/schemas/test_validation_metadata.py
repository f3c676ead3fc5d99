from __future__ import annotations

from typing import Any

from listwatch.protocol.errors import Cause, invalid
from listwatch.schemas.validation import validate
from tests.schemas.validated import (
    CONFIG_MAP,
    LABEL,
    NAMESPACE,
    SERVICE,
    Document,
    faults,
    told,
)


def metadata(**given: Any) -> list[str]:  # Any: JSON
    return told(CONFIG_MAP, {"metadata": given})


QUALIFIED = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    r"for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def test_a_name_is_a_subdomain() -> None:
    assert metadata(name="A_b") == [f'metadata.name: Invalid value: "A_b": {SUBDOMAIN}']
    assert metadata(name="a.b-c.d") == []
    assert metadata(name="a" * 254) == [
        f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters'
    ]


def test_a_name_or_the_beginning_of_one_is_needed() -> None:
    document: Document = {"metadata": {"namespace": "x"}}

    assert validate(CONFIG_MAP, document) == [
        Cause(
            "FieldValueRequired",
            "Required value: name or generateName is required",
            "metadata.name",
        )
    ]


def test_what_a_name_is_generated_from_may_end_with_a_dash() -> None:
    assert metadata(name="a-1", generateName="a-") == []
    assert metadata(name="a-1", generateName="A-") == [
        f'metadata.generateName: Invalid value: "A-": {SUBDOMAIN}'
    ]


def test_a_namespace_and_a_service_have_stricter_names() -> None:
    assert told(NAMESPACE, {"metadata": {"name": "a.b"}}) == [
        f'metadata.name: Invalid value: "a.b": {LABEL}'
    ]
    ports = {"spec": {"ports": [{"port": 80}]}}
    [message] = told(SERVICE, {"metadata": {"name": "1a"}, **ports})
    assert "a DNS-1035 label must consist of lower case" in message


def test_label_keys_and_values() -> None:
    assert metadata(labels={"-k": "v"}) == [
        f'metadata.labels: Invalid value: "-k": name part {QUALIFIED}'
    ]
    assert metadata(labels={"X.test/k": "v"}) == [
        f'metadata.labels: Invalid value: "X.test/k": prefix part {SUBDOMAIN}'
    ]
    assert metadata(labels={"k": "v" * 64}) == [
        f'metadata.labels: Invalid value: "{"v" * 64}": must be no more than 63 bytes'
    ]
    [message] = metadata(labels={"k": "-v"})
    assert message.startswith('metadata.labels: Invalid value: "-v": a valid label must be')


def test_annotation_keys_may_have_upper_case_anywhere() -> None:
    assert metadata(annotations={"UPPER.test/k": "any /"}) == []
    assert metadata(annotations={"a b": "v"}) == [
        f'metadata.annotations: Invalid value: "a b": name part {QUALIFIED}'
    ]


def test_annotations_are_256_kib_together() -> None:
    assert metadata(annotations={"k": "v" * 262143}) == []
    assert metadata(annotations={"k": "v" * 262144}) == [
        "metadata.annotations: Too long: may not be more than 262144 bytes"
    ]
    assert metadata(annotations={"k": "é" * 131072}) == [
        "metadata.annotations: Too long: may not be more than 262144 bytes"
    ]


def test_finalizers_have_a_domain_unless_they_are_the_standard_ones() -> None:
    assert metadata(finalizers=["orphan", "a.test/b"]) == []
    assert metadata(finalizers=["short"]) == [
        (
            'metadata.finalizers[0]: Invalid value: "short": name is neither a standard '
            "finalizer name nor is it fully qualified"
        )
    ]


def test_an_owner_is_named_in_full() -> None:
    assert metadata(ownerReferences=[{"apiVersion": "", "kind": "", "name": "", "uid": ""}]) == [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ]


def test_only_one_owner_controls() -> None:
    owners = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": name, "controller": True}
        for name in ("1", "2")
    ]

    assert metadata(ownerReferences=owners) == [
        (
            'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"ConfigMap",'
            '"name":"1","uid":"1","controller":true},{"apiVersion":"v1","kind":"ConfigMap",'
            '"name":"2","uid":"2","controller":true}]: Only one reference can have '
            'Controller set to true. Found "true" in references for ConfigMap/1 and '
            "ConfigMap/2"
        )
    ]


def test_what_identifies_an_object_cannot_change() -> None:
    before = {"metadata": {"uid": "1", "creationTimestamp": "2001-02-03T04:05:06Z"}}
    after = {
        "metadata": {
            "uid": "2",
            "creationTimestamp": "2001-02-03T04:05:06Z",
            "deletionTimestamp": "2001-02-03T04:05:07Z",
        }
    }

    assert told(CONFIG_MAP, after, before) == [
        'metadata.uid: Invalid value: "2": field is immutable',
        'metadata.deletionTimestamp: Invalid value: "2001-02-03T04:05:07Z": field is immutable',
    ]


def test_a_fault_of_an_update_is_a_cause_as_often_as_upstream_looks() -> None:
    """Twice for the change, twice more for what the object is by itself; the message once."""
    changed = faults(CONFIG_MAP, {"metadata": {"uid": "2"}}, {"metadata": {"uid": "1"}})
    labelled = faults(CONFIG_MAP, {"metadata": {"labels": {"x": "-"}}}, {})

    assert len(changed) == 2
    assert len(labelled) == 4
    assert invalid(CONFIG_MAP, "a", tuple(labelled)).message.count("metadata.labels") == 1


def test_no_finalizer_comes_to_an_object_that_goes() -> None:
    going = {"deletionTimestamp": "2001-02-03T04:05:06Z", "finalizers": ["a.test/b"]}
    more = {**going, "finalizers": ["a.test/b", "a.test/c"]}

    assert told(CONFIG_MAP, {"metadata": more}, {"metadata": going}) == [
        (
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is "
            'being deleted, found new finalizers []string{"a.test/c"}'
        )
    ]
    assert told(CONFIG_MAP, {"metadata": going}, {"metadata": more}) == []
