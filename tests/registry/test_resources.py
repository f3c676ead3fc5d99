"""The table of served resources, and who is told when it changes."""

from __future__ import annotations

from dataclasses import replace

from listwatch.protocol.kinds import GroupResource, GroupVersionKind, Resource
from listwatch.registry.resources import ResourceTable

WIDGETS = Resource("w.test", "v1", "widgets", "Widget", True, frozenset({"get"}))
EVENTS = GroupResource("", "events")


def test_a_resource_is_found_by_path_and_by_kind() -> None:
    table = ResourceTable([WIDGETS])

    assert table.find("w.test", "v1", "widgets") == WIDGETS
    assert table.find("w.test", "v2", "widgets") is None
    assert table.by_kind(GroupVersionKind("w.test", "v1", "Widget")) == WIDGETS


def test_groups_and_versions_are_sorted() -> None:
    table = ResourceTable([WIDGETS, replace(WIDGETS, version="v1beta1")])
    table.add(Resource("", "v1", "things", "Thing", True, frozenset()))

    assert table.groups() == {"": ("v1",), "w.test": ("v1", "v1beta1")}
    assert table.of("w.test", "v1") == (WIDGETS,)


def test_the_stored_form_is_that_of_the_storages_own_resource(facts: None) -> None:
    table = ResourceTable()
    stored = table.stored(EVENTS)

    assert stored is not None
    assert stored.api_version == "v1"


def test_a_list_of_a_served_kind_is_a_known_kind(facts: None) -> None:
    table = ResourceTable()

    assert table.knows_kind(GroupVersionKind("", "v1", "PodList"))
    assert not table.knows_kind(GroupVersionKind("", "v1", "Nothing"))


def test_subscribers_are_told_what_came_changed_and_went() -> None:
    table, told = ResourceTable([]), []
    table.subscribe(lambda resource, served: told.append((resource.singular, served)))
    table.add(WIDGETS)
    table.add(WIDGETS)
    changed = replace(WIDGETS, singular="widget")
    table.add(changed)
    table.remove(changed)
    table.remove(changed)

    assert told == [("", True), ("widget", True), ("widget", False)]
    assert table.served() == ()
    assert table.stored(WIDGETS.storage) is None


def test_another_version_takes_over_what_is_stored() -> None:
    beta = replace(WIDGETS, version="v1beta1")
    table = ResourceTable([WIDGETS, beta])
    table.remove(WIDGETS)
    table.remove(beta)
    table.add(beta)

    assert table.stored(WIDGETS.storage) == beta
