"""What handlers made of what they were told: a mirror of the server, and every illegal step.

Used by the informer processes, ours and the official one, so that both are judged alike.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


class Mirror:
    """The state that handlers know of; illegal are adds of the known and deletes of the unknown."""

    def __init__(self) -> None:
        self.state: dict[str, str] = {}
        self.illegal: list[str] = []
        self.told = 0
        self.repeats = 0  # updates that tell nothing new

    def added(self, name: str, version: str) -> None:
        self.told += 1
        if name in self.state:
            self.illegal.append(f"add of {name}, which was there")
        self.state[name] = version

    def updated(self, name: str, version: str) -> None:
        self.told += 1
        if name not in self.state:
            self.illegal.append(f"update of {name}, which was not there")
        if self.state.get(name) == version:
            self.repeats += 1
        self.state[name] = version

    def deleted(self, name: str) -> None:
        self.told += 1
        if self.state.pop(name, None) is None:
            self.illegal.append(f"delete of {name}, which was not there")


def answer_questions(describe: Callable[[str], Any]) -> None:
    """A JSON line for each question that comes in, until none does.

    `state` asks for the state; `late` adds a second handler, whose mirror counts from then on.
    """
    for line in sys.stdin:
        print(json.dumps(describe(line.strip())), flush=True)
