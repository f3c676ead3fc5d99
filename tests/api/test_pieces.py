from __future__ import annotations

import random

import orjson
import pytest

from listwatch.api.pieces import Pieces
from listwatch.protocol.objects import encode
from listwatch.protocol.versions import Version

SIZE = 8_000  # of an object: 16 of them make a piece


def version(name: str, revision: int, size: int = SIZE) -> Version:
    document = {
        "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "namespace": "ns"},
        "data": {"k": "v" * size},
    }  # fmt: skip
    return Version(
        namespace="ns", name=name, uid="u", revision=revision, encoded=encode(document),
        labels={}, fields={},
    )  # fmt: skip


def read(pieces: Pieces, versions: list[Version]) -> list[tuple[str, str]]:
    text = b"".join(pieces.of(versions))
    items = orjson.loads(b"[" + text[1:] + b"]")
    return [(i["metadata"]["name"], i["metadata"]["resourceVersion"]) for i in items]


def shown(versions: list[Version]) -> list[tuple[str, str]]:
    return [(v.name, str(v.revision)) for v in versions]


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 200])
def test_pieces_join_to_the_list(count: int) -> None:
    versions = [version(f"n{number}", number + 1) for number in range(count)]

    assert read(Pieces(), versions) == shown(versions)


def test_the_same_list_is_joined_once() -> None:
    pieces = Pieces()
    versions = [version(f"n{number}", number) for number in range(200)]
    first = list(pieces.of(versions))
    second = list(pieces.of(list(versions)))

    assert all(one is other for one, other in zip(first, second, strict=True))
    assert pieces.statistics().made == pieces.statistics().found == len(first)


def test_one_insertion_makes_at_most_two_pieces_anew() -> None:
    pieces = Pieces()
    versions = [version(f"n{number:04}", number) for number in range(400)]
    list(pieces.of(versions))
    made = pieces.statistics().made
    versions.insert(100, version("n0099a", 999))

    assert read(pieces, versions) == shown(versions)
    assert pieces.statistics().made - made <= 2


def test_after_any_changes_a_list_shows_what_is_in_it() -> None:
    chance = random.Random(5)
    pieces = Pieces(maximum=60 * SIZE)
    versions = [version(f"n{number:04}", number) for number in range(100)]
    for revision in range(1000, 1200):
        place = chance.randrange(len(versions))
        match chance.randrange(3):
            case 0:
                versions[place] = version(versions[place].name, revision)
            case 1:
                versions.insert(place, version(f"{versions[place].name}-{revision}", revision))
            case _:
                del versions[place]

        assert read(pieces, versions) == shown(versions)
        assert pieces.statistics().bytes <= 60 * SIZE
