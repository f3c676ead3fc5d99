"""What becomes of an object before it is checked: pruned, completed, its metadata read."""

from __future__ import annotations

import pytest

from tests.schemas_structural.kinds import kind_of, kind_with, widget

OBJECT = {"type": "object"}
TEXT = {"type": "string"}


def test_what_the_schema_does_not_know_is_taken_off_and_named_in_order() -> None:
    kind = kind_of({**OBJECT, "properties": {"parts": {"type": "array", "items": OBJECT}}})
    document = widget({"z": 1, "parts": [{"y": 1}]}, top=1)

    assert kind.read(document) == ["spec.parts[0].y", "spec.z", "top"]
    assert document == widget({"parts": [{}]})


def test_what_the_schema_preserves_stays_but_for_what_it_declares_otherwise() -> None:
    free = {"x-kubernetes-preserve-unknown-fields": True, **OBJECT}
    kind = kind_of({**free, "properties": {"strict": OBJECT}})
    document = widget({"any": {"thing": [1]}, "strict": {"gone": 1}})

    assert kind.read(document) == ["spec.strict.gone"]
    assert document == widget({"any": {"thing": [1]}, "strict": {}})


def test_the_keys_of_a_map_are_data() -> None:
    kind = kind_of({**OBJECT, "additionalProperties": {**OBJECT, "properties": {"a": TEXT}}})
    document = widget({"k": {"a": "x", "b": 1}})

    assert kind.read(document) == ["spec.k.b"]
    assert document == widget({"k": {"a": "x"}})


def test_metadata_is_that_of_every_kind() -> None:
    document = widget()
    document["metadata"] |= {"bad": 1, "creationTimestamp": None}
    kind = kind_with(OBJECT)

    assert kind.read(document) == ["metadata.bad"]
    assert document["metadata"] == {"name": "a"}


def test_metadata_of_another_type_is_no_object() -> None:
    with pytest.raises(ValueError, match="cannot unmarshal"):
        kind_with(OBJECT).read(widget(metadata={"name": 1}))


def test_an_object_within_has_metadata_too() -> None:
    within = {**OBJECT, "x-kubernetes-embedded-resource": True, "properties": {"spec": OBJECT}}
    kind = kind_of({**OBJECT, "properties": {"template": within}})
    template = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "b"}, "x": 1}}
    document = widget({"template": {**template, "more": 1}})

    assert kind.read(document) == ["spec.template.metadata.x", "spec.template.more"]
    assert document["spec"]["template"]["metadata"] == {"labels": {"a": "b"}}


def test_a_default_fills_in_where_its_parent_is_and_completes_what_it_brings() -> None:
    inner = {**OBJECT, "default": {}, "properties": {"on": {"type": "boolean", "default": True}}}
    kind = kind_of({**OBJECT, "properties": {"inner": inner}})
    full, empty = widget({}), widget()
    kind.apply_defaults(full)
    kind.apply_defaults(empty)

    assert full == widget({"inner": {"on": True}})
    assert empty == widget()


def test_null_is_nothing_a_default_or_itself_as_the_schema_has_it() -> None:
    fields = {"gone": TEXT, "filled": {**TEXT, "default": "x"}, "kept": {**TEXT, "nullable": True}}
    kind = kind_of({**OBJECT, "properties": fields})
    document = widget({"gone": None, "filled": None, "kept": None})
    kind.apply_defaults(document)

    assert document == widget({"filled": "x", "kept": None})


def test_elements_of_lists_and_values_of_maps_are_completed() -> None:
    element = {**OBJECT, "properties": {"a": {**TEXT, "default": "x"}}}
    fields = {
        "list": {"type": "array", "items": element},
        "map": {**OBJECT, "additionalProperties": element},
    }
    kind = kind_of({**OBJECT, "properties": fields})
    document = widget({"list": [{}], "map": {"k": {}}})
    kind.apply_defaults(document)

    assert document == widget({"list": [{"a": "x"}], "map": {"k": {"a": "x"}}})


def test_one_default_is_not_shared_by_two_objects() -> None:
    kind = kind_of({**OBJECT, "properties": {"l": {"type": "array", "items": TEXT, "default": []}}})
    one, other = widget({}), widget({})
    kind.apply_defaults(one)
    one["spec"]["l"].append("x")
    kind.apply_defaults(other)

    assert other == widget({"l": []})


def test_what_was_stored_is_brought_to_the_stored_version_and_completed() -> None:
    kind = kind_of({**OBJECT, "properties": {"a": {**TEXT, "default": "x"}}})
    old, new = widget({}, apiVersion="w.test/v1beta1"), widget({"a": "y"})

    assert kind.complete(old)
    assert old == widget({"a": "x"})
    assert not kind.complete(new)


def test_kinds_that_say_the_same_are_equal() -> None:
    assert kind_of(OBJECT) == kind_of(OBJECT)
    assert hash(kind_of(OBJECT)) == hash(kind_of(OBJECT))
    assert kind_of(OBJECT) != kind_of({**OBJECT, "description": "x"})
