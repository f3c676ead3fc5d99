"""The machine over store and pump finds the faults it is there to find, and none without them."""

from __future__ import annotations

import pytest

from tests.system.test_list_watch_machine import run_machine
from tests.watchcache.mutations import MUTATIONS, Mutation

# No fault behind the real decoding, which writes '' for every field that an object lacks.
ELSEWHERE = frozenset({"a missing field is not found under ''"})
# The ones that take the fewest histories to find stand for the others in the short run.
SAMPLE = frozenset(
    {
        "the terms of the version before are not looked up",
        "the capture from the ring is off by one",
        "leaving the selector shows the new content",
        "a flush wakes nobody",
    }
)
FOUND_HERE = [
    pytest.param(m, id=str(m), marks=() if m.name in SAMPLE else pytest.mark.full)
    for m in MUTATIONS
    if m.name not in ELSEWHERE
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mutation", FOUND_HERE)
def test_the_fault_is_found(mutation: Mutation, transactional_db: None) -> None:
    with mutation.applied():
        assert not passes(examples=1000)


def passes(examples: int) -> bool:
    try:
        run_machine(examples, steps=50, derandomize=True, quick=True)
    except Exception:
        return False
    return True
