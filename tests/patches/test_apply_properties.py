"""What holds of every history of applies and updates, whatever they are of."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.patches.field_sets import sets
from listwatch.patches.field_sets.comparing import compare
from listwatch.patches.field_sets.reading import fields_of
from listwatch.patches.managed_fields import APPLY
from listwatch.patches.server_side_apply import ConflictsError
from listwatch.protocol.kinds import GroupVersionKind
from tests.patches.histories import Document, History

SERVICE = GroupVersionKind("", "v1", "Service")
UNKNOWN = GroupVersionKind("example.test", "v1", "Unknown")
WORDS = st.sampled_from(["", "1", "2"])


def mapping(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Document]:
    return st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries({}, optional=fields)


PORT = st.fixed_dictionaries(
    {"port": st.sampled_from([80, 81])},
    optional={"name": WORDS, "protocol": st.sampled_from(["TCP", "UDP"])},
)
# Stored objects have no empty lists, but for those that are one value.
PORTS = st.lists(
    PORT, min_size=1, max_size=3, unique_by=lambda p: (p["port"], p.get("protocol", "TCP"))
)
METADATA = optional(
    labels=mapping(WORDS), finalizers=st.lists(st.sampled_from("xyz"), unique=True, min_size=1)
)
SERVICES = st.fixed_dictionaries(
    {"apiVersion": st.just("v1"), "kind": st.just("Service"), "metadata": METADATA},
    optional={"spec": optional(ports=PORTS, selector=mapping(WORDS), type=WORDS)},
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | WORDS,
    lambda inner: mapping(inner) | st.lists(inner, max_size=2),
    max_leaves=6,
)
UNKNOWNS = st.fixed_dictionaries(
    {"apiVersion": st.just("example.test/v1"), "kind": st.just("Unknown"), "metadata": METADATA},
    optional={"spec": VALUES, "status": VALUES},
)
MANAGERS = st.sampled_from(["one", "two"])


def histories(of: st.SearchStrategy[Document]) -> st.SearchStrategy[list[Any]]:
    step = st.tuples(st.sampled_from(["apply", "update"]), of, MANAGERS, st.booleans())
    return st.lists(step, max_size=4)


def labelled(config: Document) -> Document:
    """A configuration that names something: whoever owns nothing is not remembered."""
    labels = {**config["metadata"].get("labels", {}), "a": "1"}
    return {**config, "metadata": {**config["metadata"], "labels": labels}}


KINDS = st.sampled_from([(SERVICE, SERVICES), (UNKNOWN, UNKNOWNS)]).flatmap(
    lambda kind: st.tuples(st.just(kind[0]), histories(kind[1]), kind[1].map(labelled), MANAGERS)
)
CASES = settings(max_examples=60, deadline=None)


def led(gvk: GroupVersionKind, steps: list[Any]) -> History:
    history = History(gvk)
    for operation, document, manager, force in steps:
        if operation == "update":
            history.update(document, manager)
            continue
        try:
            history.apply(document, manager, force=force)
        except ConflictsError:
            assert not force
    return history


@CASES
@given(KINDS)
def test_applying_twice_is_applying_once(case: Any) -> None:
    gvk, steps, config, manager = case
    history = led(gvk, steps)
    history.apply(copy.deepcopy(config), manager, force=True)
    live, managers = copy.deepcopy(history.live), dict(history.managers)
    history.apply(copy.deepcopy(config), manager)

    assert history.live == live
    assert history.managers == managers, "not even the time changes"


@CASES
@given(KINDS)
def test_what_was_applied_is_there_and_is_the_appliers(case: Any) -> None:
    gvk, steps, config, manager = case
    history = led(gvk, steps)
    history.apply(copy.deepcopy(config), manager, force=True)
    mine = next((e.fields for k, e in history.managers.items() if k[:2] == (manager, APPLY)), {})
    named = {path for path in sets.paths(fields_of(history.ftype, config)) if path[0] in KEPT}
    there = compare(history.ftype, config, history.live)

    assert named <= set(sets.paths(mine)) | {("f:metadata",)}
    assert not there.removed
    for key, entry in history.managers.items():
        if key[:2] != (manager, APPLY):
            shared = sets.intersection(entry.fields, there.modified)
            assert not shared, "nobody else owns what was taken by force"


KEPT = ("f:spec", "f:status", "f:metadata")


@CASES
@given(KINDS)
def test_what_is_applied_no_more_is_gone_or_somebody_elses(case: Any) -> None:
    gvk, steps, config, manager = case
    history = led(gvk, steps)
    history.apply(copy.deepcopy(config), manager, force=True)
    mine = next((e.fields for k, e in history.managers.items() if k[:2] == (manager, APPLY)), {})
    others: sets.FieldSet = {}
    for key, entry in history.managers.items():
        if key[:2] != (manager, APPLY):
            others = sets.union(others, entry.fields)
    bare = {"apiVersion": config["apiVersion"], "kind": config["kind"]}
    history.apply({**bare, "metadata": {"labels": {"b": "1"}}}, manager, force=True)
    left = set(sets.paths(fields_of(history.ftype, history.live)))
    # A place stays for what is left below it; so look at those that have nothing below.
    leaves = {path for path in left if not any(p[: len(path)] == path and p != path for p in left)}
    leaves -= {("f:metadata", "f:labels", "f:b")}

    for path in leaves & set(sets.paths(mine)):
        assert _owned_around(others, path)


def _owned_around(fields: sets.FieldSet, path: tuple[str, ...]) -> bool:
    """Whether somebody owns this place, or one above it as something empty."""
    return any(sets.has(fields, path[:length]) for length in range(1, len(path) + 1))


@CASES
@given(KINDS)
def test_all_that_is_there_has_an_owner(case: Any) -> None:
    """Whoever put it there, by whatever operation; but for objects that were emptied."""
    gvk, steps, config, manager = case
    history = led(gvk, steps)
    history.apply(copy.deepcopy(config), manager, force=True)
    owned: sets.FieldSet = {}
    for entry in history.managers.values():
        owned = sets.union(owned, entry.fields)
    there = sets.paths(fields_of(history.ftype, history.live))
    unowned = {path for path in there if path[0] in KEPT and not _owned_around(owned, path)}

    assert all(_at(history.live, path) in ({}, None) for path in unowned - {("f:metadata",)})


def _at(document: Any, path: tuple[str, ...]) -> Any:
    """What stands at a place; an element of a list stands for itself."""
    for key in path:
        if key[0] != "f":
            return key
        document = document[key[2:]]
    return document
