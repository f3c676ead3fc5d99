"""What runs for a page is bounded, and said so when it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.learn.comparison import row_of
from tests.dashboard.browser import Browser


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("way", {"replicas": 0}), ("way", {"replicas": 11}), ("way", {"replicas": "2"}),
        ("comparison", {"clients": 51, "rate": 1}), ("comparison", {"clients": 1, "rate": 0}),
        ("comparison", {"clients": True, "rate": 1}), ("comparison", {}),
    ],
)  # fmt: skip
async def test_numbers_out_of_bounds_are_refused(
    browser: Browser, kind: str, more: dict[str, Any]
) -> None:
    await browser.say("attach", kind=kind, id="x", **more)
    await browser.clock.advance(0.5)

    assert browser.got("x")[-1]["status"]["code"] == 400


def test_costs_are_those_of_one_client_and_one_change() -> None:
    record = {
        "way": "poll", "clients": 2, "changes": 10, "delay_median": 0.5, "delay_p99": 1.0,
        "requests": 40, "received": 2000, "unseen": 0,
    }  # fmt: skip
    row = row_of(record, 1)

    assert (row["requests_each"], row["bytes_each"], row["delay"]) == (2.0, 100, 500.0)
