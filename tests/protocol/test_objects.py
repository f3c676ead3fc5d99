"""An object of one's own has the same values, and shares none that can be changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from listwatch.protocol.objects import JSONObject, copied

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab."), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(st.dictionaries(st.text("abc"), VALUES, max_size=5))
def test_a_copy_is_equal_with_its_order_and_is_no_other_in_any_part(document: JSONObject) -> None:
    copy = copied(document)

    assert repr(copy) == repr(document)
    assert not _parts(copy) & _parts(document)


def _parts(value: object) -> set[int]:
    """The identities of all objects and lists in it."""
    if isinstance(value, dict):
        return {id(value)}.union(*map(_parts, value.values()))
    return {id(value)}.union(*map(_parts, value)) if isinstance(value, list) else set()
