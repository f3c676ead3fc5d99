"""Keys that stand twice in one JSON object: found, named, and put together as the original does.

Go decodes the second value into what the first one left: objects merge, anything else is replaced.
Parsers for speed keep the last one and say nothing, so a body is looked at again, at the price of
one encoding; only a body that has such keys is parsed a second time.
`api` loads bodies with this; the paths go to `fields`, which words the faults.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator


class Loaded(NamedTuple):
    """A parsed body.

    `members` are the paths of all keys in the order of the text, and whether each stood there
    before: empty, unless some key is a duplicate.
    """

    document: Any  # Any: whatever JSON was sent
    members: list[tuple[str, bool]]

    @property
    def duplicates(self) -> list[str]:
        """The paths of the keys that stand there again, as `data.k`."""
        return [path for path, again in self.members if again]


def load(body: bytes) -> Loaded:
    """Parse a JSON body; raises ValueError as orjson does, and for one too deep to be written."""
    document = orjson.loads(body)
    return _load_again(body) if _has_duplicates(body, document) else Loaded(document, [])


def duplicate_keys(body: bytes) -> list[str]:
    """The paths of keys that stand twice in one object, in the order of the text."""
    return load(body).duplicates


def _has_duplicates(body: bytes, document: Any) -> bool:
    # Every key has a colon behind it, and a colon within a text stays one. So a body has as many
    # as its parsed form, unless a key was lost; one that hides colons as escapes is looked at.
    try:
        colons = orjson.dumps([[[[[[[[document]]]]]]]]).count(b":")
    except TypeError:
        # It can be read but never be written: 254 objects and lists are the most, and the sets of
        # managed fields, events and lists that it will stand in are deeper than it is.
        raise ValueError("exceeded max depth") from None
    return b"\\u003" in body or body.count(b":") != colons


_MEMBERS = 10_000  # with more of them, only the duplicates are named: paths may be long
_FAULTS = 100  # as many as the original names


def _load_again(body: bytes) -> Loaded:
    parser = _Parser()
    decoder = json.JSONDecoder(object_pairs_hook=parser.object)
    try:
        document = decoder.decode(body.decode())
        if not parser.duplicates:
            return Loaded(document, [])
        everything = parser.members < _MEMBERS
        members = parser.inside(document)
        found = _named(members, "", everything)
        return Loaded(document, [*itertools.islice(found, _MEMBERS if everything else _FAULTS)])
    except RecursionError:
        raise ValueError("exceeded max depth") from None


class _Member(NamedTuple):
    step: str  # as `.name`, or `[0]`
    again: bool
    inside: list[_Member]


class _Parser:
    """Notes the members of each object when it ends, its inner ones having ended before."""

    def __init__(self) -> None:
        self.members = 0
        self.duplicates = 0
        # By the id of the object, which is kept too, so that the id stays its own.
        self._noted: dict[int, tuple[Any, list[_Member]]] = {}

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """What the decoder makes of one object."""
        result: dict[str, Any] = {}
        members = []
        for key, value in pairs:
            again = key in result
            members.append(_Member(f".{key}", again, self.inside(value)))
            result[key] = _merged(result[key], value) if again else value
            self.duplicates += again
        self.members += len(pairs)
        self._noted[id(result)] = (result, members)
        return result

    def inside(self, value: Any) -> list[_Member]:
        """The members that stand in a value, or in the elements of a list."""
        if isinstance(value, dict):
            return self._noted[id(value)][1]
        if isinstance(value, list):
            return [
                _Member(f"[{index}]", again=False, inside=self.inside(inner))
                for index, inner in enumerate(value)
            ]
        return []


def _named(members: list[_Member], path: str, everything: bool) -> Iterator[tuple[str, bool]]:
    for step, again, inside in members:
        here = f"{path}{step}"
        if again or everything:
            yield here.removeprefix("."), again
        yield from _named(inside, here, everything)


def _merged(first: Any, second: Any) -> Any:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return second
    for key, value in second.items():
        first[key] = _merged(first[key], value) if key in first else value
    return first
