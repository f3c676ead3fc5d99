"""Events: kept as the core group's, served by two groups."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.options import ListOptions
from listwatch.protocol.selectors import FieldSelector
from tests.registry.house import House, refused

NEW = "events.k8s.io"


def event(**more: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "eventTime": "2020-01-01T00:00:00.000000Z", "type": "Normal", "reason": "R", "note": "N",
        "reportingController": "a.test/c", "reportingInstance": "i", "action": "A", **more,
    }  # fmt: skip


async def test_one_group_shows_what_the_other_made(house: House) -> None:
    answer = await house.create("events", event(), group=NEW)
    core = await house.get("events", "e")

    assert (answer["apiVersion"], answer["note"]) == ("events.k8s.io/v1", "N")
    assert (core["apiVersion"], core["message"]) == ("v1", "N")
    assert core["involvedObject"] == answer["regarding"]
    assert core["reportingComponent"] == answer["reportingController"]
    assert not core.keys() & {"note", "regarding", "reportingController"}


async def test_a_patch_speaks_of_the_fields_of_its_own_group(house: House) -> None:
    old = {
        "metadata": {"name": "e"}, "reason": "R",
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
    }  # fmt: skip
    await house.create("events", old)
    changed = await house.patch("events", "e", {"note": "N2", "deprecatedCount": 3}, group=NEW)
    core = await house.get("events", "e")

    assert (changed["note"], changed["deprecatedCount"]) == ("N2", 3)
    assert (core["message"], core["count"]) == ("N2", 3)


async def test_a_field_of_the_other_group_is_unknown(house: House) -> None:
    ctx = house.ctx("events", group=NEW)
    await house.registry.create(ctx, event(message="m"))

    assert ctx.warnings == ['unknown field "message"']


async def test_fields_are_selected_under_the_names_of_the_group(house: House) -> None:
    await house.create("events", event(), group=NEW)
    for group, field in (("", "involvedObject.name"), (NEW, "regarding.name")):
        options = ListOptions(field_selector=FieldSelector.parse(f"{field}=p"))
        found = await house.registry.list(house.ctx("events", group=group), options)

        assert [version.name for version in found.versions] == ["e"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("eventTime", None), ("type", "Odd"), ("deprecatedCount", 2), ("action", ""),
        ("reason", "r" * 129), ("reportingController", "?"), ("reportingInstance", None),
        ("series", {"count": 1, "lastObservedTime": "2024-01-01T00:00:00.000000Z"}),
        ("series", {"count": 2}),
    ],
)  # fmt: skip
async def test_the_new_group_is_strict_with_new_events(
    house: House, field: str, value: object
) -> None:
    error = await refused(house.create("events", event(**{field: value}), group=NEW))

    assert error.code == 422
