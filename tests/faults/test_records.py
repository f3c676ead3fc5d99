"""What may be asked of a fault, and how a wrong wish is refused."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.faults import FACTS, FaultSpec, FaultType
from listwatch.protocol.errors import StatusError


def read(**spec: Any) -> FaultSpec:
    return FaultSpec.read({"spec": spec})


def refused(document: dict[str, Any]) -> dict[str, str]:
    """Field and message of each cause."""
    with pytest.raises(StatusError) as caught:
        FaultSpec.read(document)

    assert (caught.value.code, caught.value.reason) == (422, "Invalid")
    return {cause.field: cause.message for cause in caught.value.causes}


def test_every_type_has_its_facts_and_is_read_back_as_it_was_written() -> None:
    assert set(FACTS) == set(FaultType)
    for kind in FaultType:
        spec = read(type=str(kind))

        assert spec.times == FACTS[kind].times
        assert FaultSpec.read({"spec": spec.to_dict()}) == spec


def test_what_is_wrong_is_named_field_by_field() -> None:
    assert refused({}) == {"spec": "Required value"}
    assert refused({"spec": {}}) == {"spec.type": "Required value"}
    wrong = {"type": "cut", "seconds": 0, "times": -1, "watcher": "x", "form": "fax", "colour": 1}
    causes = refused({"spec": wrong})

    assert sorted(causes) == [
        "spec.colour", "spec.form", "spec.seconds", "spec.times", "spec.watcher",
    ]  # fmt: skip
    assert causes["spec.seconds"] == "Invalid value: 0: must be an integer from 1 to 600"
    assert 'supported values: "event", "http"' in causes["spec.form"]


@pytest.mark.parametrize("value", [True, "5", 1.5, None, 601])
def test_seconds_are_a_whole_number_within_bounds(value: object) -> None:
    assert "spec.seconds" in refused({"spec": {"type": "cut", "seconds": value}})


def test_what_concerns_the_whole_server_cannot_be_narrowed() -> None:
    assert "spec.resource" in refused({"spec": {"type": "stop-pump", "resource": "pods"}})
    assert "spec.watcher" in refused({"spec": {"type": "compact", "watcher": 3}})


def test_whom_it_hits_is_said_in_words() -> None:
    assert read(type="cut").reach == "all watches"
    assert read(type="cut", resource="pods").reach == "watches of pods"
    assert read(type="cut", resource="pods", watcher="12").reach == "watcher 12"
    assert read(type="stop-pump").reach == "the whole server"
