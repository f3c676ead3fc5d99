"""Sorted keys in chunks behave as a sorted set does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.watchcache import sorted_keys
from listwatch.watchcache.sorted_keys import SortedKeys

KEYS = st.text("abc/-0", min_size=1, max_size=4)


@settings(max_examples=200)
@given(
    start=st.lists(KEYS, unique=True, max_size=30),
    steps=st.lists(KEYS, max_size=80),
    low=KEYS | st.just(""),
    high=KEYS | st.just(""),
)
def test_it_is_a_sorted_set(start: list[str], steps: list[str], low: str, high: str) -> None:
    load, sorted_keys._LOAD = sorted_keys._LOAD, 3
    try:
        keys, model = SortedKeys(start), set(start)
        for key in steps:
            if key in model:
                keys.remove(key)
                model.remove(key)
            else:
                keys.add(key)
                model.add(key)
        assert keys.range() == sorted(model)
        assert len(keys) == len(model)
        wanted = [key for key in sorted(model) if key >= low and (not high or key < high)]
        assert keys.range(low, high) == wanted
    finally:
        sorted_keys._LOAD = load
