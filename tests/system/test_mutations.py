"""The machine over store and pump finds the faults it is there to find, and none without them."""

from __future__ import annotations

import pytest

from tests.system.test_list_watch_machine import run_machine
from tests.watchcache.mutations import MUTATIONS, Mutation

# No fault behind the real decoding, which writes '' for every field that an object lacks.
ELSEWHERE = frozenset({"a missing field is not found under ''"})
FOUND_HERE = [mutation for mutation in MUTATIONS if mutation.name not in ELSEWHERE]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mutation", FOUND_HERE, ids=str)
def test_the_fault_is_found(mutation: Mutation, transactional_db: None) -> None:
    with mutation.applied():
        assert not passes(examples=1000)


def passes(examples: int) -> bool:
    try:
        run_machine(examples, steps=50, derandomize=True, quick=True)
    except Exception:
        return False
    return True
