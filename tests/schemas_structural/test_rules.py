# ruff: noqa: E501 (tables are read line by line)
"""The rules of a schema, in CEL; without the extra none of this is found."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schemas_structural.kinds import kind_of, messages

pytest.importorskip("cel_expr_python", reason="the extra `cel` is not installed")

INTEGER = {"type": "integer"}


def told(rule: dict[str, Any], spec: Any, old: Any = None, **properties: Any) -> list[str]:
    schema = {"type": "object", "properties": properties, "x-kubernetes-validations": [rule]}
    return messages(kind_of(schema), spec, old)


def test_a_broken_rule_says_its_message_or_itself() -> None:
    assert told({"rule": "self.a > 1"}, {"a": 1}, a=INTEGER) == [
        "spec: Invalid value: failed rule: self.a > 1"
    ]
    assert told({"rule": "self.a > 1", "message": "too small"}, {"a": 1}, a=INTEGER) == [
        "spec: Invalid value: too small"
    ]


def test_a_message_may_be_computed() -> None:
    rule = {"rule": "self.a > 1", "messageExpression": "'not ' + string(self.a)"}

    assert told(rule, {"a": 1}, a=INTEGER) == ["spec: Invalid value: not 1"]


def test_a_rule_names_its_field_and_reason() -> None:
    rule = {
        "rule": "self.a > 1",
        "fieldPath": ".a",
        "reason": "FieldValueForbidden",
        "message": "m",
    }

    assert told(rule, {"a": 1}, a=INTEGER) == ["spec.a: Forbidden: m"]


def test_a_rule_about_changes_needs_one() -> None:
    rule = {"rule": "self.a >= oldSelf.a"}

    assert told(rule, {"a": 1}, a=INTEGER) == []
    assert told(rule, {"a": 1}, {"a": 2}, a=INTEGER) != []
    assert told(rule, {"a": 3}, {"a": 2}, a=INTEGER) == []


def test_what_does_not_change_is_not_asked_again() -> None:
    assert told({"rule": "self.a > 1"}, {"a": 1}, {"a": 1}, a=INTEGER) == []


def test_a_number_is_one_however_it_is_written() -> None:
    assert (
        told({"rule": "self.a == 1.0 && self.a / 2.0 == 0.5"}, {"a": 1}, a={"type": "number"}) == []
    )


def test_names_that_cel_cannot_say_are_escaped() -> None:
    assert told({"rule": "self.a__dash__b == 1 && self.__in__ == 2"}, {"a-b": 1, "in": 2},
                **{"a-b": INTEGER, "in": INTEGER}) == []  # fmt: skip


def test_a_time_that_a_rule_is_about_is_a_time() -> None:
    rule = {"rule": "self.getFullYear() == 2024"}
    moment = {"type": "string", "format": "date-time", "x-kubernetes-validations": [rule]}
    kind = kind_of({"type": "object", "properties": {"a": moment}})

    assert messages(kind, {"a": "2024-01-01T00:00:00Z"}) == []
    assert messages(kind, {"a": "2023-01-01T00:00:00Z"}) != []


def test_times_within_an_object_can_be_compared() -> None:
    moment = {"type": "string", "format": "date-time"}

    assert told({"rule": "self.a < self.b"},
                {"a": "2024-01-01T00:00:00Z", "b": "2024-01-01T01:00:00Z"}, a=moment, b=moment) == []  # fmt: skip


def test_a_missing_field_is_an_error_that_says_so() -> None:
    [fault] = told({"rule": "self.a > 1"}, {}, a=INTEGER)

    assert fault.startswith("spec: Invalid value: ")
    assert "a" in fault


def test_a_rule_is_asked_only_of_values_that_have_their_type() -> None:
    faults = told({"rule": "self.a > 1"}, {"a": "x"}, a=INTEGER)

    assert len(faults) == 1
    assert "must be of type integer" in faults[0]


@pytest.mark.parametrize(
    "rule",
    [
        "self.l.isSorted()", "self.l.sum() == 6", "self.l.min() == 1 && self.l.max() == 3",
        "self.l.indexOf(2) == 1", "self.t.find('[0-9]+') == '12'", "self.t.lowerAscii() == 'a12'",
        "sets.contains(self.l, [1])", "self.?none.orValue(5) == 5", "isQuantity('1Gi')",
        "quantity('1Gi').isGreaterThan(quantity('1Mi'))", "isIP('10.0.0.1')",
        "self.l.all(x, x > 0) && self.l.exists_one(x, x == 3)",
    ],
)  # fmt: skip
def test_the_functions_of_kubernetes_are_there(rule: str) -> None:
    listed = {"type": "array", "items": INTEGER}

    assert told({"rule": rule}, {"l": [1, 2, 3], "t": "A12"}, l=listed, t={"type": "string"}) == []
