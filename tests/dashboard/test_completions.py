"""What selectors are completed with."""

from __future__ import annotations

import pytest

from dashboard import access
from dashboard.completions import KEYS, VALUES
from listwatch.protocol.errors import forbidden
from tests.dashboard.browser import Browser
from tests.dashboard.stage import PODS, Stage


async def told(browser: Browser, **more: str) -> dict[str, object]:
    await browser.say("complete", id="completions", resource="v1/pods", **more)
    await browser.clock.advance(0.3)
    return browser.got("completions")[-1]


async def test_labels_and_fields_of_the_cache_are_told(browser: Browser, stage: Stage) -> None:
    stage.write("a", labels={"app": "web", "tier": "front"})
    stage.write("b", labels={"app": "db"})
    stage.write("c", labels={"app": "other"}, namespace="elsewhere")
    known = await told(browser, namespace="default")

    assert known["labels"] == {"app": ["db", "web"], "tier": ["front"]}
    fields = known["fields"]
    assert isinstance(fields, dict)
    assert fields["metadata.name"] == ["a", "b"]
    assert fields["spec.nodeName"] == []
    assert known["partial"] is False


async def test_there_is_a_bound_and_it_is_told(browser: Browser, stage: Stage) -> None:
    for number in range(VALUES + 5):
        stage.write(f"pod-{number}", labels={f"key-{number}": "x", f"other-{number}": "y"})
    known = await told(browser)
    labels, fields = known["labels"], known["fields"]

    assert isinstance(labels, dict)
    assert isinstance(fields, dict)
    assert len(labels) == KEYS
    assert len(fields["metadata.name"]) == VALUES
    assert known["partial"] is True


async def test_who_may_not_watch_is_told_nothing(
    browser: Browser, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object) -> None:
        raise forbidden(PODS, "", "no")

    stage.write("a", labels={"secret": "yes"})
    monkeypatch.setattr(access, "watching_user", refused)
    known = await told(browser)

    assert known == {"status": forbidden(PODS, "", "no").to_dict()}
