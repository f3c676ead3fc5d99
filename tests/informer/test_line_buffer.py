"""Bytes into lines, however a network cuts them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.informer.line_buffer import LineBuffer, LineTooLongError

TEXT = st.text(alphabet=st.sampled_from("a変更😀\n\r\t\u2028 \x00"), max_size=12)


@given(st.lists(TEXT), st.lists(st.integers(1, 40)))
def test_every_cut_gives_the_same_lines(values: list[str], cuts: list[int]) -> None:
    data = b"".join(json.dumps(text, ensure_ascii=False).encode() + b"\n" for text in values)
    buffer, found, at = LineBuffer(), [], 0
    for size in [*cuts, len(data)]:
        found += buffer.feed(data[at : at + size])
        at += size

    assert [json.loads(line) for line in found] == values
    assert buffer.pending == 0


def test_a_character_split_in_the_middle_is_whole_again() -> None:
    line = ("a" * 2040 + "変更" * 50).encode() + b"\n"
    buffer = LineBuffer()
    assert buffer.feed(line[:2048]) == []
    assert buffer.pending == 2048

    assert [found.decode() for found in buffer.feed(line[2048:])] == [line.decode().strip()]


def test_an_incomplete_last_line_stays_pending_and_empty_ones_are_left_out() -> None:
    buffer = LineBuffer()

    assert buffer.feed(b'\n{"a":1}\r\n\n{"b"') == [b'{"a":1}\r']
    assert buffer.pending == 4


def test_a_line_that_does_not_end_is_refused() -> None:
    buffer = LineBuffer(most=10)
    with pytest.raises(LineTooLongError):
        buffer.feed(b"x" * 11)
