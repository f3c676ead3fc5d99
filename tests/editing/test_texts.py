"""Objects as text: what is edited, what is shown beside it, which line a fault is on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.editing.faults import Fault, faults_of
from listwatch.editing.lines import line_of, line_of_type
from listwatch.editing.packing import LIMIT, pack, unpack
from listwatch.editing.skeletons import skeleton
from listwatch.editing.texts import TextError, parse, parts_of
from listwatch.protocol.errors import Cause, StatusError, bad_request, invalid
from listwatch.protocol.kinds import GroupVersionKind, Resource
from listwatch.schemas.decoding import decode
from listwatch.schemas.kinds import kept_resources

RESOURCES = {resource.group_resource: resource for resource in kept_resources()}


def resource(name: str) -> Resource:
    return next(r for r in kept_resources() if r.resource == name and r.group in ("", "apps"))


POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "namespace": "n",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [{"manager": "kubectl"}],
    },
    "spec": {"containers": [{"name": "main"}]},
    "status": {"phase": "Running"},
}


def test_what_the_server_keeps_stands_beside_the_text() -> None:
    parts = parts_of(resource("pods"), POD)

    assert parse(parts.text)[0] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n"},
        "spec": {"containers": [{"name": "main"}]},
    }
    assert parts.marks == {
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    assert parts.managed == [{"manager": "kubectl"}]
    assert parts.status == "phase: Running\n"
    assert POD["status"] == {"phase": "Running"}


def test_the_form_of_a_status_has_nothing_else() -> None:
    assert parts_of(resource("pods"), POD, status_only=True).text == "status:\n  phase: Running\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 0),
        ("# nothing\n", 0),
        ("- a\n- b\n", 1),
        ("just words", 1),
        ("a: 1\nmetadata: 5\n", 2),
        ("a: 1\nb: [1, 2\nc: 3\n", 3),
        ("a: 1\n\tb: 2\n", 2),
        ("a: 1\nb: [\n", 2),  # it ends behind the last line
        ("a: 1\nb: {c: 1,\n  d: 2\n\n", 2),
        ("a: 1\nb: 'c\nd: 2\n", 2),
        ("a: &a [*a, *a]\n", 0),
    ],
)
def test_a_text_that_is_no_object_is_explained(text: str, line: int) -> None:
    with pytest.raises(TextError) as fault:
        parse(text)

    assert fault.value.line == line
    assert str(fault.value)
    assert "<unicode" not in str(fault.value)
    assert "<byte" not in str(fault.value)


TEXT = """\
apiVersion: v1
kind: Pod
metadata:
  annotations:
    test.example/key: x
  name: p
spec:
  containers:
  - name: one
    ports:
    - containerPort: 80
      name: web
  - name: two
    image: i
data:
  a.b: c
"""


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("kind", 2),
        ("metadata.name", 6),
        ("metadata.annotations[test.example/key]", 5),
        ("metadata.annotations", 4),
        ("spec.containers[1].image", 14),
        ("spec.containers[0].ports[0].name", 12),
        ("spec.containers[0].image", 9),
        ("spec.containers[7].image", 8),
        ("spec.containers.image", 14),
        ("data[a.b]", 16),
        ("status.phase", 0),
        ("", 0),
    ],
)
def test_a_fault_is_found_on_its_line_or_the_nearest(field: str, line: int) -> None:
    assert line_of(TEXT, field) == line


@pytest.mark.parametrize(
    ("field", "given", "wanted", "line"),
    [
        ("spec.containers", "number", "string", 7),  # in whichever element it stands
        ("spec.containers", "array", "map[string]string", 2),
        ("spec.containers.command", "number", "string", 6),
        ("spec.on", "bool", "string", 8),
        ("spec", "null", "string", 9),
        ("spec.nothing", "array", "string", 2),
        ("other", "number", "string", 0),
    ],
)
def test_a_value_of_a_wrong_type_is_found_in_its_map_or_list(
    field: str, given: str, wanted: str, line: int
) -> None:
    text = (
        "spec:\n  containers:\n  - command: [a]\n  - command:\n    - b\n    - 1\n  - 2\n"
        "  on: y\n  off: ~\n"
    )
    assert line_of_type(text, field, given, wanted) == line


def test_each_reason_of_a_refusal_is_a_fault_of_its_own() -> None:
    causes = (
        Cause("FieldValueRequired", "Required value", "spec.containers[1].image"),
        Cause("FieldValueInvalid", "Invalid value", "metadata.name"),
        Cause("FieldValueInvalid", "Invalid value", "metadata.name"),
    )

    faults = faults_of(invalid(GroupVersionKind("", "v1", "Pod"), "p", causes), TEXT)

    assert faults == [
        Fault(6, "metadata.name", "Invalid value"),
        Fault(14, "spec.containers[1].image", "Required value"),
    ]


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        (
            (
                'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
                'unknown field "spec.containers[1].image", duplicate field "kind"'
            ),
            [
                Fault(2, "kind", "This field is given twice."),
                Fault(14, "spec.containers[1].image", "There is no such field."),
            ],
        ),
        (
            "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []",
            [Fault(8, "spec.containers", "A string stands where [] is wanted.")],
        ),
        ("something else", [Fault(0, "", "something else")]),
    ],
)
def test_fields_are_found_in_what_a_message_tells(message: str, faults: list[Fault]) -> None:
    assert faults_of(bad_request(message), TEXT) == faults


def test_a_refusal_without_a_field_stands_for_itself() -> None:
    error = StatusError(500, "InternalError", "no", causes=(Cause("", "why"),))

    assert faults_of(error, TEXT) == [Fault(0, "", "no")]


@given(st.text())
def test_a_packed_text_comes_out_as_it_went_in(text: str) -> None:
    assert unpack(pack(text)) == text


NOT_OURS = ["", "x", "!!!", "AAAA", pack("text")[:-5], pack("a" * LIMIT + "b")]


@pytest.mark.parametrize("packed", NOT_OURS, ids=range(len(NOT_OURS)))
def test_what_is_not_packed_by_us_is_nothing(packed: str) -> None:
    assert unpack(packed) == ""


@pytest.mark.parametrize("found", kept_resources(), ids=lambda r: str(r.group_resource))
def test_the_text_of_a_new_object_has_no_field_that_its_kind_does_not_know(
    found: Resource,
) -> None:
    document, duplicates = parse(skeleton(found, "shop"))

    _, unknown = decode(found.gvk, document)

    assert (unknown, duplicates) == ([], ())
    assert document["kind"] == found.kind
    assert document["metadata"].get("namespace") == ("shop" if found.namespaced else None)
