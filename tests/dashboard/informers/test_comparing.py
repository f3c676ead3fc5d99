"""What differs between an informer and the server, and since when."""

from __future__ import annotations

from typing import Any

from dashboard.informers.comparing import COMPARED, Comparer, differing_fields
from listwatch.protocol.objects import decode
from listwatch.watchcache.requests import ListRequest
from tests.dashboard.stage import PODS, Stage


def resource(stage: Stage) -> Any:
    return stage.resources.stored(PODS)


def truth(stage: Stage) -> list[Any]:
    return list(stage.caches.cacher(PODS).list(ListRequest()).versions)


def cached(stage: Stage) -> dict[str, Any]:
    return {v.key: decode(v.encoded, v.revision) for v in truth(stage)}


async def test_equal_is_equal(stage: Stage) -> None:
    stage.write("a")
    found = Comparer(resource(stage)).compare(truth(stage), cached(stage), 10.0)

    assert (found.same, found.behind, found.missing, found.ghosts) == (1, 0, 0, 0)
    assert found.rows[0]["since"] is None


async def test_each_difference_is_named_and_its_age_kept(stage: Stage) -> None:
    for name in "abc":
        stage.write(name, spec={"nodeName": "one"})
    had = cached(stage)
    comparer = Comparer(resource(stage))
    stage.write("a", spec={"nodeName": "two"})
    stage.write("b", deleted=True)
    stage.write("d")
    first = comparer.compare(truth(stage), had, 10.0)
    second = comparer.compare(truth(stage), had, 14.0)

    assert (first.same, first.behind, first.missing, first.ghosts) == (1, 1, 1, 1)
    assert [(row["key"], row["state"], row["since"]) for row in second.rows] == [
        ("default/a", "behind", 10.0), ("default/b", "ghost", 10.0),
        ("default/d", "missing", 10.0), ("default/c", "same", None),
    ]  # fmt: skip
    assert second.rows[0]["fields"] == "spec.nodeName"
    assert (second.rows[0]["server"], second.rows[0]["informer"]) == ("4", "1")

    third = comparer.compare(truth(stage), cached(stage), 15.0)

    assert third.behind + third.missing + third.ghosts == 0


def test_what_was_not_compared_is_counted() -> None:
    many = {f"default/{n:05}": {"metadata": {"resourceVersion": "1"}} for n in range(COMPARED + 3)}
    found = Comparer(None).compare([], many, 1.0)  # type: ignore[arg-type]  # nothing is decoded

    assert (found.ghosts, found.left_out) == (COMPARED, 3)
    assert len(found.rows) == 100


def test_fields_are_named_as_deep_as_they_differ_and_no_more_than_a_few() -> None:
    one = {"spec": {"a": {"b": 1, "c": [1]}, "same": 1}, "metadata": {"resourceVersion": "1"}}
    other = {"spec": {"a": {"b": 2, "c": [2]}, "same": 1}, "metadata": {"resourceVersion": "2"}}

    assert differing_fields(one, other) == ["spec.a.b", "spec.a.c"]

    many = differing_fields({str(n): 1 for n in range(50)}, {})

    assert many[-1] == "..."
    assert len(many) == 9
