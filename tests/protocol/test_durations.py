"""Durations in kubectl's words, at the places where the words change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.protocol.durations import human_duration, short_human_duration

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1.9, "0s"),
        (-1, "0s"),
        (0, "0s"),
        (0.999, "0s"),
        (59.9, "59s"),
        (119, "119s"),
        (120, "2m"),
        (123, "2m3s"),
        (9 * MINUTE + 59, "9m59s"),
        (10 * MINUTE, "10m"),
        (10 * MINUTE + 59, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 4 * MINUTE + 59, "3h4m"),
        (8 * HOUR - 1, "7h59m"),
        (8 * HOUR, "8h"),
        (2 * DAY - 1, "47h"),
        (2 * DAY, "2d"),
        (2 * DAY + 3 * HOUR, "2d3h"),
        (8 * DAY - 1, "7d23h"),
        (8 * DAY, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 35 * DAY, "2y35d"),
        (8 * YEAR - 1, "7y364d"),
        (8 * YEAR, "8y"),
        (100 * YEAR + 1, "100y"),
    ],
)
def test_a_duration_is_told_in_what_matters(seconds: float, text: str) -> None:
    assert human_duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (59, "59s"),
        (60, "1m"),
        (HOUR - 1, "59m"),
        (HOUR, "1h"),
        (DAY - 1, "23h"),
        (DAY, "1d"),
        (YEAR - 1, "364d"),
        (YEAR, "1y"),
    ],
)
def test_a_short_duration_has_one_unit(seconds: float, text: str) -> None:
    assert short_human_duration(seconds) == text


@given(st.floats(-1, 20 * YEAR))
def test_no_duration_takes_more_room_than_a_column_has(seconds: float) -> None:
    assert 2 <= len(human_duration(seconds)) <= 6
