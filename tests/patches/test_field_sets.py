"""Sets of fields: their algebra, their text, what objects are made of."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.patches.field_sets import checking, elements, sets
from listwatch.patches.field_sets.comparing import compare
from listwatch.patches.field_sets.elements import UnkeyedError
from listwatch.patches.field_sets.reading import everything, fields_of
from listwatch.patches.field_sets.reconciling import reconciled
from listwatch.patches.field_sets.removing import remove
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.field_types import field_type, structural_type, zero_document
from tests.patches.histories import Document

SERVICE = field_type(GroupVersionKind("", "v1", "Service"))
DEDUCED = field_type(GroupVersionKind("example.test", "v1", "Unknown"))

PATHS = st.sets(
    st.lists(st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"']), min_size=1, max_size=3)
    .map(tuple),
    max_size=8,
)  # fmt: skip


def of(paths: set[tuple[str, ...]]) -> sets.FieldSet:
    fields: sets.FieldSet = {}
    for path in paths:
        fields = sets.union(fields, sets.at(path))
    return fields


@given(PATHS, PATHS)
def test_sets_do_what_sets_of_paths_do(
    one: set[tuple[str, ...]], other: set[tuple[str, ...]]
) -> None:
    a, b = of(one), of(other)
    below = {path for path in one if any(path[: n + 1] in other for n in range(len(path)))}

    assert set(sets.paths(a)) == one
    assert set(sets.paths(sets.union(a, b))) == one | other
    assert set(sets.paths(sets.intersection(a, b))) == one & other
    assert set(sets.paths(sets.difference(a, b))) == one - other
    assert set(sets.paths(sets.without(a, b))) == one - below
    assert sets.covers(a, b) == (other <= one)
    assert all(sets.has(a, path) == (path in one) for path in one | other)


@given(PATHS)
def test_a_set_is_the_same_when_it_has_been_written_and_read(paths: set[tuple[str, ...]]) -> None:
    fields = elements.arranged(of(paths))

    assert elements.read(fields) == fields
    assert list(elements.read(fields)) == list(fields)


def test_what_others_wrote_is_read_in_one_form() -> None:
    sent: Document = {
        "f:b": {}, "f:a": {".": {}},
        'k:{"b": 1, "a":"<"}': {"f:x": {}}, "x:new": {}, "i:01": {}, 'v: "s"': {},
    }  # fmt: skip
    read = elements.read(sent)

    assert list(read) == ["f:a", "f:b", 'k:{"a":"\\u003c","b":1}', 'v:"s"', "i:1"]
    assert read["f:a"] == {}


@pytest.mark.parametrize(
    "sent", ["text", {"a": {}}, {"f": {}}, {"k:1": {}}, {"v:}": {}}, {"i:x": {}}, {"f:a": 5}]
)
def test_what_is_no_set_is_refused(sent: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        elements.read(sent)


def test_elements_of_lists_stand_in_the_order_of_their_values() -> None:
    fields: sets.FieldSet = {
        'k:{"port":9}': {},
        'k:{"port":10}': {},
        'v:"a"': {},
        "v:2": {},
        "f:z": {},
    }

    assert list(elements.arranged(fields)) == [
        "f:z", 'k:{"port":9}', 'k:{"port":10}', "v:2", 'v:"a"',
    ]  # fmt: skip


def test_a_path_is_shown_as_people_write_it() -> None:
    path = ("f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:name")

    assert elements.shown(path) == '.spec.ports[port=80,protocol="TCP"].name'
    assert elements.shown(("f:metadata", "f:finalizers", 'v:"a"')) == '.metadata.finalizers[="a"]'


def test_a_key_that_is_left_out_is_the_default_one() -> None:
    ports = {"spec": {"ports": [{"port": 80}]}}

    assert fields_of(SERVICE, ports) == {
        "f:spec": {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}}}
    }


def test_an_element_without_its_key_is_told_apart_from_nothing() -> None:
    listed = {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"],
        "items": {"type": "object", "properties": {"id": {"type": "string"}}},
    }  # fmt: skip
    ftype = structural_type({"properties": {"keyed": listed}})

    with pytest.raises(UnkeyedError, match='omits key field "id"'):
        fields_of(ftype, {"keyed": [{"other": 1}]})


def test_a_new_object_is_compared_with_the_zero_value_of_its_type() -> None:
    """Structs are always there, so that only pointers, lists and maps appear by themselves."""
    gvk = GroupVersionKind("apps", "v1", "Deployment")
    spec = {
        "selector": {"matchLabels": {"a": "b"}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "m"}]}},
    }
    new = {**zero_document(gvk), "spec": spec}
    comparison = compare(field_type(gvk), zero_document(gvk), new)

    assert sets.union(comparison.added, comparison.modified) == {
        "f:spec": {
            "f:selector": {},
            "f:strategy": {"f:rollingUpdate": {".": {}, "f:maxSurge": {}}, "f:type": {}},
            "f:template": {
                "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
                "f:spec": {"f:containers": {'k:{"name":"m"}': {".": {}, "f:name": {}}}},
            },
        }
    }


def test_true_becoming_one_is_a_change_where_no_type_says_what_it_is() -> None:
    comparison = compare(DEDUCED, {"spec": {"on": True, "n": 1}}, {"spec": {"on": 1, "n": 1.0}})

    assert comparison.modified == {"f:spec": {"f:on": {}}}
    assert not comparison.added
    assert not comparison.removed


def test_what_is_emptied_from_within_stays() -> None:
    document = {"metadata": {"labels": {"a": "1"}}, "spec": {"ports": [{"port": 80}]}}
    fields = fields_of(SERVICE, document)

    assert remove(SERVICE, document, {"f:metadata": {"f:labels": {"f:a": {}}}}) == {
        "metadata": {"labels": {}}, "spec": {"ports": [{"port": 80}]},
    }  # fmt: skip
    assert remove(SERVICE, document, fields)["spec"] == {"ports": []}


def test_a_configuration_is_checked_against_its_kind() -> None:
    config = {
        "metadata": {"name": True},
        "spec": {"ports": [{"port": "x"}, {"port": 80}, {"port": 80}], "selector": [], "what": 1},
    }

    assert checking.faults(SERVICE, config).split("\n") == [
        "errors:",
        "  .metadata.name: expected string, got &value.valueUnstructured{Value:true}",
        (
            '  .spec.ports[port="x",protocol="TCP"].port: '
            'expected numeric (int or float), got &value.valueUnstructured{Value:"x"}'
        ),
        '  .spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
        "  .spec.selector: expected map, got &value.valueUnstructured{Value:[]}",
        "  .spec.what: field not declared in schema",
    ]


def test_a_structural_schema_says_how_custom_objects_are_owned() -> None:
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "whole": {
                        "type": "object", "x-kubernetes-map-type": "atomic",
                        "additionalProperties": {"type": "string"},
                    },
                    "keyed": {
                        "type": "array", "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["id"],
                        "items": {"type": "object", "properties": {"id": {"type": "string"}}},
                    },
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    "port": {"x-kubernetes-int-or-string": True},
                },
            }
        },
    }  # fmt: skip
    ftype = structural_type(schema)
    spec = {"whole": {"a": "b"}, "keyed": [{"id": "x"}], "tags": ["t"], "any": {"a": {"b": 1}}}
    document = {"metadata": {"labels": {"l": "v"}}, "spec": {**spec, "port": "http"}}

    assert fields_of(ftype, document) == {
        "f:metadata": {"f:labels": {"f:l": {}}},
        "f:spec": {
            "f:whole": {}, "f:tags": {}, "f:port": {},
            "f:keyed": {'k:{"id":"x"}': {".": {}, "f:id": {}}},
            "f:any": {"f:a": {".": {}, "f:b": {}}},
        },
    }  # fmt: skip
    assert checking.faults(ftype, {"spec": {"other": 1}}) == (
        ".spec.other: field not declared in schema"
    )


def test_what_has_become_one_value_is_owned_as_one() -> None:
    once = structural_type({"properties": {"spec": {"type": "object", "additionalProperties": {}}}})
    now = structural_type(
        {"properties": {"spec": {"type": "object", "x-kubernetes-map-type": "atomic"}}}
    )
    fields = fields_of(once, {"spec": {"a": 1}, "metadata": {"labels": {"x": "y"}}})

    assert reconciled(now, fields) == {"f:spec": {}, "f:metadata": {"f:labels": {"f:x": {}}}}
    assert reconciled(once, fields) == fields


def test_everything_of_an_object_is_more_than_its_leaves() -> None:
    assert everything(SERVICE, {"spec": {"selector": {"a": "b"}, "externalIPs": ["1.1.1.1"]}}) == {
        ".": {}, "f:spec": {".": {}, "f:selector": {}, "f:externalIPs": {}},
    }  # fmt: skip
