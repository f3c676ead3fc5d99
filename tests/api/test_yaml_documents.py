from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.protocol import yaml_documents

texts = (
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
    | st.text("\n\t \r:#-ab\u2028\u0085\ufeff'\"|>", max_size=8)
    | st.sampled_from(["yes", "no", "1e3", "0x10", "2020-01-01", "~", "null", "a\nb\n", "a: b"])
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)  # how long it takes is not what this is about
@given(values)
def test_what_is_written_is_read_as_it_was(value: object) -> None:
    assert yaml_documents.load(yaml_documents.dump({"a": value})) == ({"a": value}, ())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("yes", True),
        ("n", False),
        ("1e3", 1000.0),
        ("1.5", 1.5),
        ("010", 8),
        ("0x1F", 31),
        ("~", None),
        ("1.2.3", "1.2.3"),
        ("'5'", "5"),
    ],
)
def test_scalars_are_those_of_a_go_server(text: str, value: object) -> None:
    assert yaml_documents.load(f"a: {text}\n".encode())[0] == {"a": value}


def test_keys_become_texts() -> None:
    assert yaml_documents.load(b"1: a\ntrue: b\n~: c\n")[0] == {"1": "a", "true": "b", "null": "c"}


def test_keys_that_stand_twice_are_named_with_their_path() -> None:
    document, again = yaml_documents.load(b"a:\n- b: 1\n  b: 2\n")

    assert (document, again) == ({"a": [{"b": 2}]}, ("a[0].b",))


def test_aliases_are_resolved_and_bounded() -> None:
    assert yaml_documents.load(b"a: &x [1]\nb: *x\n")[0] == {"a": [1], "b": [1]}

    bomb = b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for number in range(1, 8):
        again = b", ".join([b"*a%d" % (number - 1)] * 10)
        bomb += b"a%d: &a%d [%b]\n" % (number, number, again)
    with pytest.raises(ValueError, match="excessive aliasing"):
        yaml_documents.load(bomb)


@pytest.mark.parametrize(
    "text", [b"a: [1", b"a: b: c", b"{", b"a: .nan", b"? [1]\n: 2", b"a\n---\nb"]
)
def test_what_is_no_document_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        yaml_documents.load(text)


def test_lists_are_written_without_indentation_and_lines_are_never_folded() -> None:
    text = yaml_documents.dump({"b": [{"c": "word " * 60 + "end"}], "a": "two\nlines\n"})

    assert text.startswith(b"a: |\n  two\n  lines\nb:\n- c: word word")
    assert text.count(b"\n") == 5
