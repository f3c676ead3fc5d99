"""What each line of a list-watch is said to mean, in the light of those before it."""

from __future__ import annotations

from typing import Any

import orjson

from dashboard.learn.explaining import STEPS, Narrator
from listwatch.informer.list_watch import ListPage
from listwatch.protocol.errors import expired
from listwatch.protocol.events import INITIAL_EVENTS_END

PATH = "/api/v1/namespaces/default/configmaps"


def narrator() -> Narrator:
    return Narrator(PATH, lambda: 1.0, lambda: None)


def line(kind: str, revision: int, name: str = "", **metadata: Any) -> bytes:
    whole = {"resourceVersion": str(revision), "name": name, **metadata}
    return orjson.dumps({"type": kind, "object": {"metadata": whole}})


def titles(told: Narrator) -> list[str]:
    return [step.title for step in told.steps]


def test_list_watch_end_and_resumption_are_told_in_their_turn() -> None:
    told = narrator()
    told.asked("list", {"limit": "500"})
    told.listed(ListPage([{"metadata": {"name": "a"}}], "7", kind="ConfigMapList"))
    told.asked("watch", {"watch": "1", "resourceVersion": "7"})
    told.opened()
    told.line(line("ADDED", 8, "b"))
    told.line(line("BOOKMARK", 12))
    told.ended("closed")
    told.asked("watch", {"watch": "1", "resourceVersion": "12"})

    assert titles(told) == [
        "List: what is there now?", "The state at revision 7", "Watch: what comes after 7?",
        "The stream is open", "b appeared at revision 8", "Nothing else up to revision 12",
        "The server ended the stream", "Resume: what came after 12?",
    ]  # fmt: skip
    assert told.steps[0].line == f"GET {PATH}?limit=500"
    assert "Watches again from 12" in told.steps[6].next


def test_the_state_of_a_streaming_list_is_told_apart_from_changes() -> None:
    told = narrator()
    told.asked("watch", {"sendInitialEvents": "true"})
    told.line(line("ADDED", 3, "a"))
    told.line(line("BOOKMARK", 9, annotations={INITIAL_EVENTS_END: "true"}))
    told.line(line("ADDED", 10, "b"))

    assert titles(told) == [
        "A streaming list: the state by watch", "Of the state: a",
        "The state is whole, at revision 9", "b appeared at revision 10",
    ]  # fmt: skip


def test_410_in_either_form_is_followed_by_a_relist() -> None:
    status = expired("too old resource version: 1 (5)").to_dict()
    for form in ("event", "http"):
        told = narrator()
        told.asked("watch", {"resourceVersion": "1"})
        if form == "event":
            told.line(orjson.dumps({"type": "ERROR", "object": status}))
        else:
            told.refused(status)
        told.asked("list", {})

        assert titles(told)[1:] == ["410 Expired: that history is gone", "A relist"]


def test_an_unknown_type_is_told_and_a_cut_without_a_place_lists_anew() -> None:
    told = narrator()
    told.line(line("SHOUTED", 4, "a"))
    told.ended("left")
    told._revision = ""
    told.ended("cut")

    assert titles(told) == ["a did something unknown at revision 4", "The connection broke off"]
    assert told.steps[-1].next == "Lists anew."


def test_steps_and_lines_are_bounded() -> None:
    told = narrator()
    for number in range(STEPS + 10):
        told.line(line("ADDED", number + 1, "x" * 5000))

    assert len(told.steps) == STEPS
    assert told.number == STEPS + 10
    assert len(told.steps[0].line) < 2100
