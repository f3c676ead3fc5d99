from __future__ import annotations

import pytest

from listwatch.schemas.validation.schedules import schedule_fault


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *", "*/5 * * * *", "0 0 1 1 0", "0,30 8-18/2 * jan-mar mon-fri", "? ? ? ? ?",
        "@daily", "@every 1h30m", "TZ=Europe/Berlin 0 0 * * *", "5/15 * * * *",
    ],
)  # fmt: skip
def test_schedules(schedule: str) -> None:
    assert schedule_fault(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "why"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("9-3 * * * *", "beginning of range (9) beyond end of range (3): 9-3"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        ("@often", "unrecognized descriptor: @often"),
        (
            "@every day",
            'failed to parse duration @every day: time: invalid duration "day"',
        ),
    ],
)
def test_what_is_no_schedule(schedule: str, why: str) -> None:
    assert schedule_fault(schedule) == why
