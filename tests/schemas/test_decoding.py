from __future__ import annotations

import copy
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas import facts
from listwatch.schemas.decoding import DecodeError, decode, is_normal
from listwatch.schemas.defaults import apply_defaults
from listwatch.schemas.fields import decode_faults, drop_unknown, unknown_fields
from listwatch.schemas.kinds import builtin_resources
from listwatch.schemas.scalars import base64_length, base64_text, microseconds, seconds
from listwatch.schemas.validation import validate
from tests.schemas.documents import documents

CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")
POD = GroupVersionKind("", "v1", "Pod")
LEASE = GroupVersionKind("coordination.k8s.io", "v1", "Lease")
Document = dict[str, Any]  # Any: JSON


def test_unknown_fields_are_named_in_the_order_they_stand_in() -> None:
    document = {
        "bogus": 1,
        "spec": {
            "containers": [{"name": "m", "ports": [{"port": 5}], "Image": "x"}],
            "nodeselector": {},
        },
    }

    assert unknown_fields(POD, document) == [
        "bogus",
        "spec.containers[0].ports[0].port",
        "spec.containers[0].Image",
        "spec.nodeselector",
    ]
    assert document["bogus"] == 1  # it was only looked at


def test_unknown_fields_fall_away() -> None:
    document = {"spec": {"containers": [{"name": "m", "x": 1}]}, "y": {"z": 1}}

    assert drop_unknown(POD, document) == {"spec": {"containers": [{"name": "m"}]}}


def test_keys_of_maps_and_of_embedded_objects_are_never_unknown() -> None:
    fields = [{"manager": "m", "fieldsV1": {"f:x": {"any": None}}}]
    document = {"metadata": {"labels": {"any": "v"}, "managedFields": fields}}

    assert unknown_fields(CONFIG_MAP, document) == []


def test_nulls_and_empty_values_that_json_leaves_out_fall_away() -> None:
    document: Document = {
        "metadata": {"name": "a", "labels": {}, "annotations": None, "creationTimestamp": None},
        "data": None,
        "immutable": False,
    }

    assert decode(CONFIG_MAP, document).document == {"metadata": {"name": "a"}, "immutable": False}


def test_a_null_among_values_is_the_zero_value() -> None:
    assert decode(CONFIG_MAP, {"data": {"k": None}}).document == {"data": {"k": ""}}


def test_an_empty_object_is_something() -> None:
    document = {"spec": {"securityContext": {}, "volumes": [{"name": "v", "emptyDir": {}}]}}

    assert decode(POD, copy.deepcopy(document)).document == document


@pytest.mark.parametrize(
    ("gvk", "document", "why"),
    [
        (
            CONFIG_MAP,
            {"data": {"k": 5}},
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            CONFIG_MAP,
            {"data": []},
            (
                "json: cannot unmarshal array into Go struct field ConfigMap.data "
                "of type map[string]string"
            ),
        ),
        (
            CONFIG_MAP,
            {"immutable": "yes"},
            "json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool",
        ),
        (
            CONFIG_MAP,
            {"metadata": "a"},
            (
                "json: cannot unmarshal string into Go struct field ConfigMap.metadata "
                "of type v1.ObjectMeta"
            ),
        ),
        (
            POD,
            {"spec": {"containers": {}}},
            (
                "json: cannot unmarshal object into Go struct field PodSpec.spec.containers "
                "of type []v1.Container"
            ),
        ),
        (
            POD,
            {"spec": {"containers": [{"ports": [{"containerPort": 1.0}]}]}},
            (
                "json: cannot unmarshal number 1.0 into Go struct field "
                "ContainerPort.spec.containers.ports.containerPort of type int32"
            ),
        ),
        (
            POD,
            {"spec": {"priority": 1 << 31}},
            (
                "json: cannot unmarshal number 2147483648 into Go struct field "
                "PodSpec.spec.priority of type int32"
            ),
        ),
        (
            LEASE,
            {"spec": {"renewTime": "2001-02-03T04:05:06Z"}},
            (
                'parsing time "2001-02-03T04:05:06Z" as "2006-01-02T15:04:05.000000Z07:00": '
                'cannot parse "Z" as ".000000"'
            ),
        ),
        (
            GroupVersionKind("", "v1", "Secret"),
            {"data": {"k": "***"}},
            "illegal base64 data at input byte 0",
        ),
        (
            POD,
            {"spec": {"overhead": {"cpu": "x"}}},
            (
                "quantities must match the regular expression "
                "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            ),
        ),
    ],
)
def test_a_wrong_type_is_told_as_the_original_tells_it(
    gvk: GroupVersionKind, document: Document, why: str
) -> None:
    kind = gvk.kind

    assert decode_faults(gvk, document) == (
        f'{kind} in version "v1" cannot be handled as a {kind}: {why}'
    )


@pytest.mark.parametrize("body", [[], "a", 5, True, None])
def test_what_is_no_object_is_none_of_any_kind(body: object) -> None:
    assert decode_faults(CONFIG_MAP, body)


def test_a_decodable_object_has_no_fault() -> None:
    assert decode_faults(CONFIG_MAP, {"data": None, "bogus": 1}) is None


def test_quantities_and_times_take_their_normal_form() -> None:
    document = {
        "metadata": {"deletionTimestamp": "2001-02-03T05:05:06.7+01:00"},
        "spec": {"overhead": {"cpu": "1000m", "memory": 1024, "pods": "0.5"}},
    }

    assert decode(POD, document).document == {
        "metadata": {"deletionTimestamp": "2001-02-03T04:05:06Z"},
        "spec": {"overhead": {"cpu": "1", "memory": "1024", "pods": "500m"}},
    }


def test_a_kind_that_is_not_built_in_is_left_alone() -> None:
    document = {"spec": {"x": None}}

    assert decode(GroupVersionKind("a.test", "v1", "Own"), document) == (document, [])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'),
        (
            "2001-02-03",
            'parsing time "2001-02-03" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"',
        ),
        (
            "2001-02-03T04:05:06",
            (
                'parsing time "2001-02-03T04:05:06" as "2006-01-02T15:04:05Z07:00": '
                'cannot parse "" as "Z07:00"'
            ),
        ),
        ("2001-13-03T04:05:06Z", 'parsing time "2001-13-03T04:05:06Z": month out of range'),
        ("2001-02-30T04:05:06Z", 'parsing time "2001-02-30T04:05:06Z": day out of range'),
        (
            "2001-02-03T04:05:06Z ",
            'parsing time "2001-02-03T04:05:06Z ": extra text: " "',
        ),
    ],
)
def test_a_time_that_is_none_is_told_as_go_tells_it(text: str, why: str) -> None:
    with pytest.raises(ValueError) as caught:
        seconds(text)

    assert str(caught.value) == why


def test_times_are_written_in_utc() -> None:
    assert seconds("2001-02-03T00:00:00-23:30") == "2001-02-03T23:30:00Z"
    assert microseconds("2001-02-03T04:05:06.000001+01:00") == "2001-02-03T03:05:06.000001Z"


def test_base64_lengths() -> None:
    for text, length in (("", 0), ("YQ==", 1), ("YWI=", 2), ("YWJj", 3)):
        assert base64_length(base64_text(text)) == length


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
KINDS = [resource.gvk for resource in builtin_resources()]


def message_of(gvk: GroupVersionKind) -> str:
    name = facts.schema_name(gvk)
    assert name is not None
    return facts.message_name(name)


@settings(deadline=None)
@given(st.sampled_from(KINDS), st.data())
def test_any_object_in_normal_form_stays_as_it_is(
    gvk: GroupVersionKind, data: st.DataObject
) -> None:
    document = data.draw(documents(message_of(gvk)))
    before = copy.deepcopy(document)

    assert decode(gvk, document) == (before, [])


@settings(deadline=None)
@given(st.sampled_from(KINDS), st.data())
def test_whatever_stands_in_a_field_is_decoded_or_refused(
    gvk: GroupVersionKind, data: st.DataObject
) -> None:
    document = data.draw(documents(message_of(gvk)))
    place: Any = document
    while isinstance(place, dict) and place:
        key = data.draw(st.sampled_from(sorted(place)))
        if data.draw(st.booleans()):
            place[key] = data.draw(JSON)
            break
        place = place[key]
    try:
        decoded = decode(gvk, document).document
    except DecodeError as error:
        assert str(error)  # noqa: PT017  # either outcome is right
        return
    again = copy.deepcopy(decoded)

    assert decode(gvk, again) == (decoded, [])


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(KINDS), st.data())
def test_any_object_is_defaulted_and_validated_without_an_exception(
    gvk: GroupVersionKind, data: st.DataObject
) -> None:
    document, old = data.draw(documents(message_of(gvk))), data.draw(documents(message_of(gvk)))
    for value in (document, old):
        apply_defaults(gvk, value)
    validate(gvk, document, old=old)
    before = copy.deepcopy(document)
    apply_defaults(gvk, document)

    assert document == before  # defaults of defaults are nothing new
    assert decode(gvk, document) == (before, [])  # and what is stored is in normal form


def test_the_objects_that_are_written_most_take_the_short_way() -> None:
    document: Document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "b", "labels": {"x": "y"}},
        "data": {"k": "v"},
    }

    assert is_normal(CONFIG_MAP, document)


def test_every_day_of_a_year_takes_the_short_way_but_one_that_is_not_there() -> None:
    def normal(day: str) -> bool:
        created = {"creationTimestamp": f"{day}T10:00:00Z"}
        return is_normal(CONFIG_MAP, {"metadata": created})

    first = date(2026, 1, 1)
    days = [(first + timedelta(days=n)).isoformat() for n in range(365)]
    assert [day for day in days if not normal(day)] == []
    wrong = ["2026-02-29", "2026-02-30", "2026-04-31", "2026-06-31", "2026-11-31", "2026-13-01"]
    assert not any(normal(day) for day in [*wrong, "2026-01-32", "2026-01-00", "2026-00-10"])


DEFINITION = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")


def definition(schema: Document) -> Document:
    return {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"properties": {"z": schema}}}}]}}


@pytest.mark.parametrize(
    ("schema", "where", "given", "wanted"),
    [
        ({"items": {"type": 5}}, "items.type", "number", "string"),
        ({"items": [{"type": 5}]}, "items.type", "number", "string"),
        ({"items": [5]}, "items", "number", "v1.JSONSchemaProps"),
        (
            {"additionalProperties": {"items": {"properties": []}}},
            "additionalProperties.items.properties", "array", "map[string]v1.JSONSchemaProps",
        ),
    ],
)  # fmt: skip
def test_schemas_within_schemas_are_read_as_such(
    schema: Document, where: str, given: str, wanted: str
) -> None:
    with pytest.raises(DecodeError) as told:
        decode(DEFINITION, definition(schema))

    path = f"JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.{where}"
    assert str(told.value) == (
        f"json: cannot unmarshal {given} into Go struct field {path} of type {wanted}"
    )


def test_more_properties_are_a_schema_or_a_truth() -> None:
    assert decode(DEFINITION, definition({"additionalProperties": False})).unknown == []
    with pytest.raises(DecodeError, match="boolean or JSON schema expected"):
        decode(DEFINITION, definition({"additionalProperties": "yes"}))


def test_unknown_words_of_an_inner_schema_fall_away_without_a_word() -> None:
    decoded = decode(DEFINITION, definition({"items": {"type": "string", "typo": 1}}))

    schema = decoded.document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["z"] == {"items": {"type": "string"}}
    assert decoded.unknown == []
