from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.protocol.errors import StatusError
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas import facts, protobuf
from tests.schemas.documents import documents
from tests.schemas.protobuf_writer import META, envelope, varint, write

BODIES = sorted(Path(__file__).parent.joinpath("data").glob("*.bin"))
CORE = "k8s.io.api.core.v1."


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.stem)
def test_what_kubectl_sends_is_what_it_shows_as_json(body: Path) -> None:
    """The bodies were sent by kubectl 1.32 and 1.37 (which differ in none); the JSON is what the
    same command prints with `--dry-run=client -o json`."""
    assert protobuf.read(body.read_bytes()) == json.loads(body.with_suffix(".json").read_text())


def test_an_object_begins_with_its_api_version_and_kind() -> None:
    document = protobuf.read(Path(BODIES[0]).read_bytes())

    assert list(document)[:2] == ["apiVersion", "kind"]


POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "labels": {"a": "b", "empty": ""},
        "creationTimestamp": "2001-02-03T04:05:06Z",
        "deletionGracePeriodSeconds": 0,
        "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {"f:x": {}}}}],
    },
    "spec": {
        "volumes": [{"name": "v", "configMap": {"name": "c", "defaultMode": 420}}],
        "containers": [
            {
                "name": "main",
                "image": "i",
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}},
                "livenessProbe": {"httpGet": {"path": "/", "port": "web"}, "failureThreshold": 3},
                "readinessProbe": {"tcpSocket": {"port": 80}},
            }
        ],
        "nodeSelector": {"x": "y"},
        "priority": -5,
        "terminationGracePeriodSeconds": 0,
        "enableServiceLinks": False,
        "tolerations": [{"operator": "Exists", "tolerationSeconds": 300}],
    },
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True", "lastProbeTime": None, "reason": "r"},
        ],
        "startTime": "1969-12-31T23:59:59Z",
    },
}


def test_a_pod_with_all_that_json_says_differently() -> None:
    body = envelope("v1", "Pod", f"{CORE}Pod", POD)

    assert protobuf.read(body) == {
        **POD,
        "status": {
            **POD["status"],
            "conditions": [{"type": "Ready", "status": "True", "reason": "r"}],
        },
    }


def test_micro_times_and_zero_numbers_behind_pointers_are_kept() -> None:
    document = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "l"},
        "spec": {
            "holderIdentity": "",
            "leaseDurationSeconds": 0,
            "renewTime": "2001-02-03T04:05:06.000500Z",
        },
    }
    body = envelope("coordination.k8s.io/v1", "Lease", "k8s.io.api.coordination.v1.Lease", document)

    assert protobuf.read(body) == document


def test_zero_values_that_json_leaves_out_are_left_out() -> None:
    document = {"spec": {"hostNetwork": False, "nodeName": "", "containers": []}}
    body = envelope("v1", "Pod", f"{CORE}Pod", document)

    assert protobuf.read(body) == {"apiVersion": "v1", "kind": "Pod", "spec": {}}


def test_options_of_a_delete_are_read_in_any_group() -> None:
    options = {"gracePeriodSeconds": 0, "preconditions": {"uid": "u"}, "dryRun": ["All"]}
    for version in ("v1", "apps/v1", "meta.k8s.io/v1"):
        body = envelope(version, "DeleteOptions", f"{META}DeleteOptions", options)

        assert protobuf.read(body) == {"apiVersion": version, "kind": "DeleteOptions", **options}


def test_a_body_that_names_no_kind_is_of_the_kind_expected() -> None:
    body = envelope("", "", f"{CORE}ConfigMap", {"data": {"k": "v"}})
    read = protobuf.read(body, GroupVersionKind("", "v1", "ConfigMap"))

    assert read == {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"}}


def test_fields_of_a_newer_version_are_passed_over() -> None:
    new = b"".join(
        varint(900 << 3 | wire) + value
        for wire, value in ((0, b"\x96\x01"), (1, bytes(8)), (2, b"\x02ab"), (5, bytes(4)))
    )
    raw = new + write(f"{CORE}ConfigMap", {"data": {"k": "v"}}) + new
    type_meta = b"\n\x02v1\x12\tConfigMap"
    body = b"k8s\0\n" + varint(len(type_meta)) + type_meta + b"\x12" + varint(len(raw)) + raw

    assert protobuf.read(body)["data"] == {"k": "v"}


def test_packed_numbers_are_read_like_single_ones() -> None:
    message = "k8s.io.api.batch.v1.PodFailurePolicyOnExitCodesRequirement"
    rows = facts.message(message)
    assert rows is not None
    number = next(row[0] for row in rows if row[1] == "values")
    packed = varint(number << 3 | 2) + b"\x03\x01\x96\x01"
    plan = protobuf._plan(message)

    assert protobuf._message(plan, packed, 0, len(packed), 0)["values"] == [1, 150]


def test_a_custom_resource_schema_has_its_json_names_and_forms() -> None:
    extensions = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1."
    schema = write(
        f"{extensions}JSONSchemaProps",
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    )
    array = b"\n" + varint(len(schema)) + schema
    plan = protobuf._plan(f"{extensions}JSONSchemaProps")
    body = b"\xc2\x01" + varint(len(array)) + array + b"\xf2\x01\x02\x08\x01"

    assert protobuf._message(plan, body, 0, len(body), 0) == {
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "additionalProperties": True,
    }


def outcome(body: bytes) -> int:
    try:
        protobuf.read(body)
    except StatusError as error:
        return error.code
    return 200


def refused(body: bytes) -> str:
    with pytest.raises(StatusError) as caught:
        protobuf.read(body)
    assert caught.value.code == 400
    return caught.value.message


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"k8s",
        b'{"kind":"Pod"}',
        b"k8s\1\n",
        b"k8s\0",
        b"k8s\0\xff",
        b"k8s\0\x00",
        b"k8s\0\x0f",
    ],
)
def test_what_is_no_message_is_refused(body: bytes) -> None:
    assert refused(body)


def test_every_cut_of_a_message_is_refused_or_read_as_far_as_it_goes() -> None:
    body = envelope("v1", "Pod", f"{CORE}Pod", POD)

    assert {outcome(body[:end]) for end in range(len(body))} == {200, 400}


def test_a_kind_without_a_message_is_refused_by_name() -> None:
    body = envelope("a.test/v1", "Own", f"{CORE}ConfigMap", {})

    assert refused(body) == 'no kind "Own" is registered for version "a.test/v1"'


def test_messages_within_messages_have_an_end() -> None:
    schema = b""
    for _ in range(2000):
        schema = b"\xe2\x01" + varint(len(schema)) + schema  # field `not`, a schema again
    message = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"

    with pytest.raises(protobuf._FaultError, match="depth"):
        protobuf._message(protobuf._plan(message), schema, 0, len(schema), 0)


def test_a_time_beyond_all_years_is_refused() -> None:
    time = varint(1 << 3) + varint(1 << 60)
    metadata = b"B" + varint(len(time)) + time
    raw = b"\n" + varint(len(metadata)) + metadata
    type_meta = b"\n\x02v1\x12\x03Pod"
    body = b"k8s\0\n" + varint(len(type_meta)) + type_meta + b"\x12" + varint(len(raw)) + raw

    assert "out of range" in refused(body)


def test_embedded_json_that_is_none_is_refused() -> None:
    fields = b":\x05\n\x03{x}"
    entry = b"\x8a\x01" + varint(len(fields)) + fields
    raw = b"\n" + varint(len(entry)) + entry
    type_meta = b"\n\x02v1\x12\x03Pod"
    body = b"k8s\0\n" + varint(len(type_meta)) + type_meta + b"\x12" + varint(len(raw)) + raw

    assert refused(body)


@settings(deadline=None)
@given(st.data())
def test_no_bytes_at_all_raise_anything_else(data: st.DataObject) -> None:
    body = bytearray(data.draw(st.sampled_from([path.read_bytes() for path in BODIES])))
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(4, len(body) - 1))
        body[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        body = body if len(body) > 5 else bytearray(b"k8s\0\n\x00")

    assert outcome(bytes(body)) in (200, 400)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_message_of_a_pod_raises_anything_else(raw: bytes) -> None:
    type_meta = b"\n\x02v1\x12\x03Pod"
    body = b"k8s\0\n" + varint(len(type_meta)) + type_meta + b"\x12" + varint(len(raw)) + raw

    assert outcome(body) in (200, 400)


@settings(deadline=None)
@given(st.data())
def test_any_object_of_the_served_kinds_is_read_as_it_was_written(data: st.DataObject) -> None:
    kind, message = data.draw(
        st.sampled_from(
            [
                (GroupVersionKind("", "v1", "Pod"), f"{CORE}Pod"),
                (GroupVersionKind("", "v1", "Service"), f"{CORE}Service"),
                (GroupVersionKind("", "v1", "Node"), f"{CORE}Node"),
                (GroupVersionKind("apps", "v1", "Deployment"), "k8s.io.api.apps.v1.Deployment"),
            ]
        )
    )
    document = data.draw(documents(message))
    body = envelope(kind.api_version, kind.kind, message, copy.deepcopy(document))
    expected = {"apiVersion": kind.api_version, "kind": kind.kind, **document}

    assert protobuf.read(body) == expected
