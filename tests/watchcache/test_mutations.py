"""The state machine finds each of the faults that it is there to find."""

from __future__ import annotations

import pytest

from tests.watchcache.mutations import MUTATIONS, Mutation
from tests.watchcache.test_state_machine import run_machine

pytestmark = pytest.mark.timeout(300)  # of which each takes a few seconds


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_the_fault_is_found(mutation: Mutation) -> None:
    with mutation.applied():
        assert not passes()


def test_without_a_fault_there_is_nothing_to_find() -> None:
    assert passes()


def passes() -> bool:
    try:
        run_machine(examples=500, derandomize=True)
    except Exception:
        return False
    return True
