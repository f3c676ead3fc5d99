"""What a scale shows of an object is a number, or a text, where the definition says."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.schemas.structural.scaling import scale_faults, split

PATHS = {
    "specReplicasPath": ".spec.a.n",
    "statusReplicasPath": ".status.n[0]",
    "labelSelectorPath": ".spec.sel",
}
ACCESSOR = "accessor error:"


def told(**document: Any) -> list[str]:  # Any: JSON
    return [f"{fault.field}: {fault.message}" for fault in scale_faults(document, PATHS)]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("", ()),
        (".spec.a", ("spec", "a")),
        (".spec.a[0]", ("spec", "a[0]")),
        (".spec..a", ("spec", "", "a")),
        (".spec.", ("spec", "")),
    ],
)
def test_names_are_whatever_stands_between_dots(path: str, names: tuple[str, ...]) -> None:
    assert split(path) == names


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (1, f".spec.a {ACCESSOR} 1 is of the type int64, expected map[string]interface{{}}"),
        (
            {"a": [1, {"b": True, "a": None}]},
            (
                f".spec.a.n {ACCESSOR} [1 map[a:<nil> b:true]] is of the type []interface {{}}, "
                "expected map[string]interface{}"
            ),
        ),
        ({"a": {"n": "x"}}, f".spec.a.n {ACCESSOR} x is of the type string, expected int64"),
        ({"a": {"n": True}}, f".spec.a.n {ACCESSOR} true is of the type bool, expected int64"),
        ({"a": {"n": 1.0}}, f".spec.a.n {ACCESSOR} 1 is of the type float64, expected int64"),
        ({"a": {"n": None}}, f".spec.a.n {ACCESSOR} <nil> is of the type <nil>, expected int64"),
    ],
)
def test_replicas_are_a_number(spec: Any, fault: str) -> None:  # Any: JSON
    # The selector of an object that is none of that shape is none either.
    assert told(spec=spec)[0] == f".spec.a.n: Invalid value: 0: {fault}"


def test_replicas_are_none_or_a_few() -> None:
    few: list[Any] = [{}, {"a": None}, {"a": {}}, {"a": {"n": 0}}, {"a": {"n": 2**31 - 1}}]
    for spec in few:  # Any: JSON
        assert told(spec=spec) == told(spec=spec, status={}) == []
    assert told(spec={"a": {"n": 2**31}}, status={"n[0]": -1}) == [
        ".spec.a.n: Invalid value: 2147483648: should be less than or equal to 2147483647",
        ".status.n[0]: Invalid value: -1: should be a non-negative integer",
    ]


def test_a_selector_is_text() -> None:
    assert told(spec={"sel": "a=b"}) == []
    assert told(spec={"sel": {}}) == [
        (
            f'.spec.sel: Invalid value: "": .spec.sel {ACCESSOR} map[] is of the type '
            "map[string]interface {}, expected string"
        )
    ]
