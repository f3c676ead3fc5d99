"""The inverted index finds every lane that may want an event, and few others."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.protocol.selectors import EVERYTHING, Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.lane import Lane
from listwatch.watchcache.lane_index import LaneIndex
from listwatch.watchcache.verdicts import Predicate, verdict
from tests.watchcache.kit import JSON, fielded, labelled, version


def lane(selector: Selector = EVERYTHING, namespace: str = "", name: str = "") -> Lane:
    return Lane(0, (namespace, name, selector, JSON), Predicate(selector), 1000)


def index(*lanes: Lane) -> LaneIndex:
    made = LaneIndex()
    for one in lanes:
        made.add(one)
    return made


def event(before: Version | None, after: Version) -> Version:
    after.previous = before
    return after


def test_an_event_asks_the_lanes_of_the_values_it_had_and_has() -> None:
    web, db, cache = (lane(labelled(f"app={app}")) for app in ("web", "db", "cache"))
    flipped = event(version(1, "a", {"app": "web"}), version(2, "a", {"app": "db"}))

    assert index(web, db, cache).find(flipped) == [db, web]


def test_a_selector_with_several_values_stands_under_each_and_is_asked_once() -> None:
    both = lane(labelled("app in (web,db)"))
    found = index(both)

    assert found.find(event(None, version(1, "a", {"app": "web"}))) == [both]
    flipped = event(version(1, "a", {"app": "web"}), version(2, "a", {"app": "db"}))
    assert found.find(flipped) == [both]
    assert found.find(event(None, version(3, "a", {"app": "x"}))) == []


def test_a_missing_field_is_empty_and_a_missing_label_is_not() -> None:
    unscheduled, unlabelled = lane(fielded("spec.nodeName=")), lane(labelled("app="))
    found = index(unscheduled, unlabelled)

    assert found.find(event(None, version(1, "a"))) == [unscheduled]
    assert found.find(event(None, version(1, "a", {"app": ""}, node="n"))) == [unlabelled]


@pytest.mark.parametrize("text", ["app!=web", "!app", "app", "app notin (web)"])
def test_a_selector_without_a_required_value_is_always_asked(text: str) -> None:
    always = lane(labelled(text))

    assert index(always).find(event(None, version(1, "a"))) == [always]


def test_namespace_and_name_are_part_of_the_index() -> None:
    everywhere, blue, green = lane(), lane(namespace="blue"), lane(namespace="green")
    a, b, any_a = lane(namespace="blue", name="a"), lane(namespace="blue", name="b"), lane(name="a")

    found = index(everywhere, blue, green, a, b, any_a).find(event(None, version(1, "a")))

    assert set(found) == {everywhere, blue, a, any_a}
    assert len(found) == 4


def test_a_lane_joins_the_least_crowded_of_the_values_it_requires() -> None:
    lanes = [lane(labelled(f"tier=front,pod=p{n}")) for n in range(50)]

    found = index(*lanes).find(event(None, version(1, "a", {"tier": "front", "pod": "p7"})))

    assert lanes[7] in found
    assert len(found) <= 2  # the very first had nothing to compare with


def test_a_closed_lane_leaves_nothing_behind() -> None:
    lanes = [lane(labelled("app in (a,b)")), lane(fielded("spec.nodeName=n")), lane(name="x")]
    emptied = index(*lanes)
    for one in lanes:
        emptied.remove(one)

    assert (len(emptied), emptied._buckets) == (0, {})


LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["", "x", "y"]))
TEXTS = st.lists(
    st.sampled_from(
        ["app=x", "app=", "app in (x,y)", "app!=x", "tier=y", "!tier", "tier", "tier notin (x)"]
    ),
    max_size=2,
).map(",".join)
FIELDS = st.lists(
    st.sampled_from(["spec.nodeName=", "spec.nodeName=n1", "spec.nodeName!=n1", "metadata.name=a"]),
    max_size=2,
).map(",".join)
POD = st.builds(
    lambda labels, node, deleted: version(1, "a", labels, node=node, deleted=deleted),
    LABELS,
    st.sampled_from(["", "n1", "n2"]),
    st.booleans(),
)


@settings(max_examples=300)
@given(
    selectors=st.lists(st.builds(Selector.parse, TEXTS, FIELDS), unique=True, max_size=12),
    before=st.none() | POD,
    after=POD,
    gone=st.integers(0, 12),
)
def test_no_lane_that_hears_of_an_event_is_missed_and_none_is_asked_twice(
    selectors: list[Selector], before: Version | None, after: Version, gone: int
) -> None:
    lanes = [lane(selector) for selector in selectors]
    found_in = index(*lanes)
    for one in lanes[:gone]:
        found_in.remove(one)
    found = found_in.find(event(before, after))

    assert len(found) == len(set(found))
    wanting = [one for one in lanes[gone:] if verdict(one.selector, after, before) is not None]
    assert set(wanting) <= set(found)
    assert not set(lanes[:gone]) & set(found)
