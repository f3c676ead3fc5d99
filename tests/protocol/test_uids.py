"""Identities are version 4 UUIDs, each given out once, by whatever thread or process asks."""

from __future__ import annotations

import os
import threading
import uuid

import pytest

from listwatch.protocol.uids import new_uid


def test_each_is_a_version_4_uuid_in_its_usual_form() -> None:
    for text in (new_uid() for _ in range(1000)):
        parsed = uuid.UUID(text)
        assert (str(parsed), parsed.version, parsed.variant) == (text, 4, uuid.RFC_4122)


def test_none_is_given_twice_by_many_threads() -> None:
    given: list[list[str]] = []

    def take() -> None:
        given.append([new_uid() for _ in range(3000)])

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({uid for each in given for uid in each}) == 12_000


def test_all_digits_vary_but_those_of_version_and_variant() -> None:
    columns = list(zip(*(new_uid() for _ in range(2000)), strict=True))

    assert [len(set(column)) for column in columns] == [
        *[16] * 8, 1, *[16] * 4, 1, 1, *[16] * 3, 1, 4, *[16] * 3, 1, *[16] * 12
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_gives_out_others() -> None:
    new_uid()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, ",".join(new_uid() for _ in range(100)).encode())
        os._exit(0)
    mine = {new_uid() for _ in range(300)}
    os.waitpid(child, 0)
    theirs = os.read(reading, 1 << 16).decode().split(",")
    os.close(reading)
    os.close(writing)

    assert len(theirs) == 100
    assert not mine & set(theirs)
