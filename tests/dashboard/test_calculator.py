"""The 410 calculator says in words what `Cacher.explain` found, and refuses as the API does."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.machinery.calculator import calculate
from tests.dashboard.stage import PODS, Stage


@pytest.fixture
def stage() -> Stage:
    """A ring of the newest three of nine events; its log holds nothing."""
    made = Stage(ring_minimum=3, ring_maximum=3)
    for number in range(9):
        made.write(f"web-{number % 2}", labels={"app": "web" if number % 2 else "db"})
    return made


async def told(stage: Stage, **form: str) -> dict[str, Any]:
    resource = stage.resources.stored(PODS)
    assert resource is not None
    answer = await calculate(stage.caches.cacher(PODS), resource, form)
    assert answer is not None
    return answer


async def told_at(stage: Stage, revision: str, **form: str) -> dict[str, Any]:
    return await told(stage, **{"from": revision}, **form)


async def test_nothing_typed_is_nothing_told(stage: Stage) -> None:
    resource = stage.resources.stored(PODS)
    assert resource is not None

    assert await calculate(stage.caches.cacher(PODS), resource, {"from": " "}) is None


@pytest.mark.parametrize(
    ("revision", "source", "verdict"),
    [
        ("0", "state", "Begins with the state"),
        ("3", "refused", "Refused: 410 Expired"),
        ("6", "ring", "Served by the ring"),
        ("9", "ring", "Served by the ring"),
        ("10", "future", "Accepted, and silent"),
        ("18446744073709551615", "future", "Accepted, and silent"),
    ],
)
async def test_a_verdict_for_every_revision(
    stage: Stage, revision: str, source: str, verdict: str
) -> None:
    answer = await told_at(stage, revision)

    assert (answer["source"], answer["verdict"]) == (source, verdict)
    assert answer["revision"] == revision


async def test_what_would_be_replayed_is_counted_by_type(stage: Stage) -> None:
    stage.write("web-0", deleted=True, labels={"app": "db"})
    answer = await told_at(stage, "7")
    narrowed = await told_at(stage, "7", labels="app=web")

    counts = {each["type"]: each["count"] for each in answer["types"]}
    assert counts == {"ADDED": 0, "MODIFIED": 2, "DELETED": 1}
    assert sum(each["count"] for each in narrowed["types"]) == 1


async def test_a_refusal_shows_the_status_that_a_watch_is_told(stage: Stage) -> None:
    answer = await told_at(stage, "3")

    assert answer["refusal"]["code"] == 410
    assert answer["refusal"]["reason"] == "Expired"
    assert answer["refusal"]["message"] == "too old resource version: 3 (6)"


async def test_the_revision_of_one_object_is_told_from_that_of_a_list(stage: Stage) -> None:
    """As kubernetes-client/csharp#740: the newest of its object, and yet too old."""
    answer = await told_at(stage, "1", fields="metadata.name=web-0")

    assert answer["source"] == "refused"
    assert "a list's own resourceVersion is always recent enough" in answer["says"]


async def test_the_line_of_revisions_has_no_gap_and_one_mark(stage: Stage) -> None:
    for revision in range(12):
        reach = (await told_at(stage, str(revision)))["reach"]

        assert [part["is"] for part in reach] == ["refused", "ring", "future"]
        assert [part["span"] for part in reach] == ["0 to 5", "6 to 9", "above 9"]
        here = [part["is"] for part in reach if part["here"] is not None]
        assert here == ["refused" if revision < 6 else "ring" if revision < 10 else "future"]


@pytest.mark.parametrize("typed", ["x", "-1", "1.5", "18446744073709551616", "\u0662"])
async def test_what_is_no_revision_is_refused_by_name(stage: Stage, typed: str) -> None:
    status = (await told_at(stage, typed))["status"]

    assert status["code"] == 400
    assert "resourceVersion" in status["message"]


async def test_a_bad_selector_is_refused_as_by_the_api(stage: Stage) -> None:
    assert (await told_at(stage, "7", labels="app in (web"))["status"]["code"] == 400
    unknown = (await told_at(stage, "7", fields="spec.colour=blue"))["status"]

    assert "spec.colour" in unknown["message"]


async def test_the_command_asks_for_the_same_watch(stage: Stage) -> None:
    answer = await told_at(stage, "7", namespace="shop", labels="app=web")

    assert answer["command"] == (
        "kubectl get --raw '/api/v1/namespaces/shop/pods?watch=1&resourceVersion=7"
        "&labelSelector=app%3Dweb'"
    )


async def test_revisions_beyond_what_a_number_of_the_browser_holds_stay_exact() -> None:
    stage = Stage()
    stage.caches.advance(18014398509481983)
    stage.write("web")
    stage.write("web")
    answer = await told_at(stage, "18014398509481984")

    assert answer["revision"] == "18014398509481984"
    assert answer["replayed"] == 1
    assert answer["reach"][-1]["span"] == "above 18014398509481985"
