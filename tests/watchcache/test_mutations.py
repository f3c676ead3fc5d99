"""The state machine finds each of the faults that it is there to find."""

from __future__ import annotations

import pytest

from tests.watchcache.mutations import MUTATIONS, Mutation
from tests.watchcache.test_state_machine import run_machine


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_the_fault_is_found(mutation: Mutation) -> None:
    with mutation.applied():
        assert not passes(examples=300)


def test_without_a_fault_there_is_nothing_to_find() -> None:
    assert passes(examples=30)


def passes(*, examples: int) -> bool:
    try:
        run_machine(examples=examples, derandomize=True)
    except Exception:
        return False
    return True
