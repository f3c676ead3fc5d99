"""Who wrote a revision is the one that did, also where two wrote within one second."""

from __future__ import annotations

from typing import Any

from dashboard.objects.writers import writer

JSON = dict[str, Any]  # Any: JSON values
NOW = "2026-01-01T00:00:00Z"


def state(data: JSON, *managers: JSON) -> JSON:
    return {"metadata": {"name": "a", "managedFields": list(managers)}, "data": data}


def entry(manager: str, *keys: str, time: str = NOW, **more: str) -> JSON:
    fields: JSON = {"f:data": {f"f:{key}": {} for key in keys}}
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields, **more}


def test_without_a_state_before_it_is_the_newest_entry() -> None:
    old = entry("first", "x", time="2025-01-01T00:00:00Z")
    assert writer(state({"x": 1, "y": 2}, old, entry("second", "y")), None) == "second"


def test_an_entry_that_the_write_made_tells_its_writer_though_others_are_as_new() -> None:
    before = state({"x": 1}, entry("first", "x"))
    after = state({"x": 1, "y": 2}, entry("second", "y"), entry("first", "x"))
    assert writer(after, before) == "second"


def test_a_second_write_within_a_second_is_told_by_the_fields_it_changed() -> None:
    managers = [entry("first", "x"), entry("second", "y")]
    before = state({"x": 1, "y": 2}, *managers)
    assert writer(state({"x": 1, "y": 3}, *managers), before) == "second"
    assert writer(state({"x": 9, "y": 2}, *managers), before) == "first"


def test_a_whole_map_that_went_counts_as_its_owners_write() -> None:
    managers = [entry("other", "y"), {**entry("first"), "fieldsV1": {"f:data": {".": {}}}}]
    before = state({"x": 1}, *managers)
    after = {**before, "data": {"z": 1}}
    assert writer(after, before) == "first"


def test_the_subresource_is_named() -> None:
    assert writer(state({}, entry("kubelet", subresource="status")), None) == "kubelet (status)"


def test_where_no_manager_is_recorded_nobody_is_named() -> None:
    assert writer({"metadata": {"name": "a"}}, None) == ""
    assert writer({"metadata": {"name": "a"}, "data": {"x": 1}}, {"metadata": {"name": "a"}}) == ""
