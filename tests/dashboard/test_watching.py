"""The tables of watches: asked for by words and by column, bounded, and each end in words."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dashboard.machinery import watching
from dashboard.machinery.endings import ENDINGS, is_calm
from dashboard.machinery.views import columns
from dashboard.machinery.watching import HASTY, SORTS, Query
from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason
from tests.dashboard.browser import Browser
from tests.dashboard.stage import Stage


async def rows(stage: Stage, query: str = "") -> list[dict[str, Any]]:
    tables = await watching.watchers(stage, Query.read(query))  # type: ignore[arg-type]  # a stage
    found: list[dict[str, Any]] = tables["watching"]
    return found


async def clients(stage: Stage, query: str = "") -> list[str]:
    return [row["client"] for row in await rows(stage, query)]


@pytest.fixture
async def some(stage: Stage) -> Stage:
    await stage.watch(agent="b/1", labels="app=web", namespace="shop")
    await stage.watch(agent="a/1", resource="deployments.apps")
    await stage.watch(agent="c/1", user="eve")
    return stage


async def test_words_must_all_stand_in_the_row(some: Stage) -> None:
    assert await clients(some) == ["b/1", "a/1", "c/1"]
    assert await clients(some, "q=deployments") == ["a/1"]
    assert await clients(some, "q=PODS+eve") == ["c/1"]
    assert await clients(some, "q=-l+app%3Dweb") == ["b/1"]
    assert await clients(some, "q=ns:shop") == ["b/1"]
    assert await clients(some, "q=ns:sho") == []


async def test_every_column_sorts_both_ways(some: Stage) -> None:
    assert await clients(some, "sort=client") == ["a/1", "b/1", "c/1"]
    for key in SORTS:
        forth, back = await clients(some, f"sort={key}"), await clients(some, f"sort=-{key}")

        assert forth == back[::-1]
        assert sorted(forth) == ["a/1", "b/1", "c/1"]


async def test_what_is_no_column_is_refused_by_its_parameter(some: Stage) -> None:
    with pytest.raises(StatusError, match='there is no column "id;drop"') as no:
        await clients(some, "sort=id;drop&q=")
    assert no.value.code == 400


async def test_of_very_many_the_first_in_the_order_are_shown(
    some: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "WATCHERS", 2)
    tables = await watching.watchers(some, Query.read("sort=-client"))  # type: ignore[arg-type]

    assert [row["client"] for row in tables["watching"]] == ["c/1", "b/1"]
    assert tables["counts"] == {"watching": 3, "not_shown": ", the first 2 shown"}
    assert await clients(some, "q=a/1") == ["a/1"]  # the words look beyond the bound


async def test_lag_is_told_in_events_revisions_and_time(stage: Stage) -> None:
    await stage.watch(agent="behind/1")
    await stage.watch(agent="elsewhere/1", labels="app=none")
    stage.write("one")
    stage.write("two")
    await stage.clock.advance(3)  # type: ignore[attr-defined]  # a FakeClock
    behind, elsewhere = await rows(stage)

    assert (behind["lag_events"], behind["lag_revisions"], behind["lag_ms"]) == (2, 2, 3000.0)
    assert (elsewhere["lag_events"], elsewhere["lag_revisions"]) == (0, 2)
    assert (behind["lag"], elsewhere["lag"]) == ("high", "none")


async def test_a_client_that_connects_very_often_is_marked(stage: Stage) -> None:
    """As kubernetes-client/javascript#1933: tens of watch requests a second after a loss."""
    for _ in range(HASTY + 2):
        (await stage.watch(agent="hasty/1")).close(EndReason.CLIENT_LEFT)
    await stage.watch(agent="hasty/1")
    await stage.watch(agent="patient/1")
    hasty, patient = await rows(stage)

    assert hasty["hasty"] == f"{HASTY + 3} connects a minute"
    assert patient["hasty"] == ""

    await stage.clock.advance(61)  # type: ignore[attr-defined]  # a FakeClock
    await stage.watch(agent="hasty/1")
    assert {row["hasty"] for row in await rows(stage)} == {""}


async def test_a_client_of_many_watches_is_not_taken_for_one_that_connects_often(
    stage: Stage,
) -> None:
    for number in range(HASTY + 5):
        await stage.watch(labels=f"app=n{number}", agent="controllers/1")

    assert {row["hasty"] for row in await rows(stage)} == {""}


def counts_of(browser: Browser) -> int:
    told = [part["counts"] for part in browser.got("watchers:") if "counts" in part]
    return int(told[-1]["watching"])


async def test_watches_that_never_read_leave_nothing_behind_in_the_tables(
    stage: Stage, browser: Browser
) -> None:
    """As kubernetes#70207: their clients are gone, so they are not shown as watching."""
    await browser.say("subscribe", channel="watchers:")
    stuck = [await stage.watch(agent="stuck/1") for _ in range(50)]
    stage.write("web")
    await browser.clock.advance(1.2)
    before = counts_of(browser)
    for watcher in stuck:
        watcher.close(EndReason.CLIENT_LEFT)
    await browser.clock.advance(1.2)

    assert before == 50
    assert counts_of(browser) == 0
    assert len(stage.caches.cacher(stuck[0].group_resource).ended()) <= 200


async def test_forced_ends_and_refusals_are_counted_and_named(stage: Stage) -> None:
    """As kubernetes#86356: a forced close and a 410 in the stream are HTTP 200 elsewhere."""
    (await stage.watch(agent="slow/1")).close(EndReason.TOO_SLOW)
    old = await stage.watch(agent="old/1", revision=0)
    old.close(EndReason.HISTORY_LOST)
    tables = await watching.watchers(stage)  # type: ignore[arg-type]  # a stage

    assert [(row["client"], row["end_reason"], row["end_kind"]) for row in tables["ended"]] == [
        ("old/1", "history lost", "bad"),
        ("slow/1", "too slow", "bad"),
    ]


def test_every_end_reason_is_explained() -> None:
    assert set(ENDINGS) == set(EndReason)
    for reason, ending in ENDINGS.items():
        assert ending.means.endswith(".")
        assert ending.next.endswith(".")
        assert is_calm(reason) is ending.calm


def test_the_head_of_a_column_leads_to_the_useful_order_first_then_back() -> None:
    def query_of(given: dict[str, str], key: str) -> str:
        query = Query.read("&".join(f"{name}={value}" for name, value in given.items()))
        (head,) = (each for each in columns(given, query) if each["key"] == key)
        return str(head["query"])

    assert query_of({"q": "web"}, "lag") == "?q=web&sort=-lag"
    assert query_of({"sort": "-lag"}, "lag") == "?sort=lag"
    assert query_of({"sort": "lag"}, "lag") == "?"
    assert query_of({"sort": "-lag"}, "client") == "?sort=client"


async def test_a_word_after_not_leaves_out_the_rows_that_have_it(stage: Stage) -> None:
    await stage.watch(agent="kube-controller-manager/v1.36.0")
    await stage.watch(agent="mine/1", namespace="shop")
    await stage.watch(agent="mine/2")

    async def clients(query: str) -> list[str]:
        found = await watching.watchers(stage, Query.read(query))  # type: ignore[arg-type]
        return [row["client"] for row in found["watching"]]

    assert await clients("q=not:kube-controller-manager") == ["mine/1", "mine/2"]
    assert await clients("q=mine+not:ns:shop") == ["mine/2"]


async def test_the_table_follows_the_query_of_its_page(stage: Stage, browser: Browser) -> None:
    await browser.say("subscribe", channel="watchers:q=second&sort=-client")
    await stage.watch(agent="first/1")
    await stage.watch(agent="second/1")
    await stage.watch(agent="second/2")
    await browser.clock.advance(1.2)
    data = browser.got("watchers:q=second&sort=-client")[-1]

    assert [row["client"] for row in data["watching"]["rows"]] == ["second/2", "second/1"]
    await asyncio.sleep(0)
