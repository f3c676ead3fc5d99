"""Selectors as the real server reads them: its transcripts, and rules that hold for all."""

from __future__ import annotations

import string
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.protocol.errors import StatusError
from listwatch.protocol.field_selectors import FieldTerm
from listwatch.protocol.label_requirements import Operator, Requirement
from listwatch.protocol.selectors import (
    EVERYTHING,
    FieldSelector,
    LabelSelector,
    Selector,
    Term,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.versions import Version

OBJECTS = {
    "a": {"tier": "one", "env": "prod"},
    "b": {"tier": "two", "env": "test"},
    "c": {"tier": "3"},
    "d": {},
    "e": {"in": "in", "app.test/x": "y"},
}


def selected(text: str) -> str:
    selector = LabelSelector.parse(text)
    return "".join(name for name, labels in OBJECTS.items() if selector.matches(labels))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "abcde"),
        ("tier=one", "a"),
        ("tier==one", "a"),
        ("tier!=one", "bcde"),
        ("tier=", ""),
        ("tier!=", "abcde"),
        ("tier=one,env=prod", "a"),
        ("tier=one,env=test", ""),
        ("tier in (one,two)", "ab"),
        ("tier notin (one)", "bcde"),
        ("tier", "abc"),
        ("!tier", "de"),
        ("tier in (one), env", "a"),
        ("env,!tier", ""),
        ("tier in (one,)", "a"),
        ("tier notin ()", "abcde"),
        (" tier = one ", "a"),
        ("tier  in  ( one , two )", "ab"),
        ("! tier", "de"),
        ("tier\tin\t(one)", "a"),
        ("in", "e"),
        ("in in (in)", "e"),
        ("in=in", "e"),
        ("app.test/x=y", "e"),
        ("!app.test/x", "abcd"),
        ("notin", ""),
        ("tier>2", "c"),
        ("tier<3", ""),
        ("tier<4", "c"),
        ("env,env!=prod", "b"),
        ("tier=one,tier=one", "a"),
        ("tier=one,tier=two", ""),
    ],
)
def test_a_label_selector_chooses(text: str, names: str) -> None:
    assert selected(text) == names


OPERATORS = "in, notin, =, ==, !=, gt, lt"
NAME = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', "
    " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    r"for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
UNABLE = "unable to parse requirement: "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b", f"{UNABLE}found 'b', expected: {OPERATORS}"),
        ("tier=one two", "found 'two', expected: ',' or 'end of string'"),
        ("tier=one,", "found '', expected: identifier after ','"),
        ("tier=one,=", "found '=', expected: identifier after ','"),
        (",tier", "found ',', expected: !, identifier, or 'end of string'"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("!", f"{UNABLE}found '', expected: identifier"),
        ("!!x", f"{UNABLE}found '!', expected: identifier"),
        ("!x=y", "found '=', expected: ',' or 'end of string'"),
        ("x in a", f"{UNABLE}found 'a' expected: '('"),
        ("x in (a", f"{UNABLE}found '', expected: ',' or ')'"),
        ("x in (a b)", f"{UNABLE}found 'b', expected: ',' or ')'"),
        ("x in (=)", f"{UNABLE}found '=', expected: ',', ')' or identifier"),
        ("x in (a,=)", f"{UNABLE}found '=', expected: ',', or identifier"),
        ("x==(", f"{UNABLE}found '(', expected: identifier"),
        ("x=a)", "found ')', expected: ',' or 'end of string'"),
        ("rel DoesNotExist", f"{UNABLE}found 'DoesNotExist', expected: {OPERATORS}"),
        (
            "x>one",
            (
                f"{UNABLE}values[0]: Invalid value: \"one\": for 'Gt', 'Lt' operators, "
                "the value must be an integer"
            ),
        ),
        ("-tier=one", f'{UNABLE}<nil>: Invalid value: "-tier": name part {NAME}'),
        ("tier=-one", f'{UNABLE}values[0][tier]: Invalid value: "-one": {VALUE}'),
        ("tier in (one,-two)", f'{UNABLE}values[0][tier]: Invalid value: "-two": {VALUE}'),
        ("tier=ü", f'{UNABLE}values[0][tier]: Invalid value: "ü": {VALUE}'),
        ('rel notin ("1.1.0")', rf'{UNABLE}values[0][rel]: Invalid value: "\"1.1.0\"": {VALUE}'),
        (
            "a/b/c=one",
            (
                f'{UNABLE}<nil>: Invalid value: "a/b/c": a valid label key {NAME} with an optional '
                "DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ),
        ),
        ("UPPER/x=y", f'{UNABLE}<nil>: Invalid value: "UPPER/x": prefix part {SUBDOMAIN}'),
        ("/x=y", f'{UNABLE}<nil>: Invalid value: "/x": prefix part must be non-empty'),
        (
            "k" * 64,
            f'{UNABLE}<nil>: Invalid value: "{"k" * 64}": name part must be no more than 63 bytes',
        ),
        (
            "tier=" + "v" * 64,
            f'{UNABLE}values[0][tier]: Invalid value: "{"v" * 64}": must be no more than 63 bytes',
        ),
    ],
)
def test_a_bad_label_selector_is_refused_in_the_real_servers_words(text: str, message: str) -> None:
    with pytest.raises(StatusError) as refusal:
        LabelSelector.parse(text)

    assert (refusal.value.code, refusal.value.reason) == (400, "BadRequest")
    assert refusal.value.message == message


FIELDS = {"metadata.name": "a", "metadata.namespace": "n", "spec.nodeName": "", "x": r"a,b=\c"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("metadata.name=a", True),
        ("metadata.name==a", True),
        ("metadata.name!=a", False),
        ("metadata.name=a,metadata.name=b", False),
        ("metadata.name!=b,,metadata.name!=c", True),
        ("metadata.name=", False),
        ("spec.nodeName=", True),
        ("spec.nodeName!=", False),
        ("status.never=", True),
        (r"x=a\,b\=\\c", True),
        (r"x!=a\,b\=\\c", False),
    ],
)
def test_a_field_selector_chooses(text: str, matches: bool) -> None:
    assert FieldSelector.parse(text).matches(FIELDS) is matches


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name", "invalid selector: 'name'; can't understand 'name'"),
        ("a=b,name", "invalid selector: 'a=b,name'; can't understand 'name'"),
        ("a=b=c", "invalid field selector: unescaped character in value: ="),
        (r"a=\n", r"invalid field selector: invalid escape sequence: \n"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_a_bad_field_selector_is_refused(text: str, message: str) -> None:
    with pytest.raises(StatusError) as refusal:
        FieldSelector.parse(text)

    assert (refusal.value.code, refusal.value.message) == (400, message)


def check(text: str, selectable: tuple[str, ...], **how: bool) -> str:
    try:
        return str(FieldSelector.parse(text).check(selectable, **how))
    except StatusError as refusal:
        return refusal.message if refusal.code == 400 else f"code {refusal.code}"


def test_a_kind_without_fields_of_its_own_names_the_two_that_all_have() -> None:
    fault = check("data.k=v", ())

    known = 'only "metadata.name", "metadata.namespace"'
    assert fault == f'"data.k" is not a known field selector: {known}'


def test_a_kind_with_fields_of_its_own_says_that_the_label_is_not_supported() -> None:
    assert check("spec.ports=x", ("spec.type",)) == "field label not supported: spec.ports"
    assert check("spec.type=x,metadata.name=a", ("spec.type",)) == "metadata.name=a,spec.type=x"


def test_a_custom_kind_speaks_like_one_with_fields() -> None:
    assert check("spec.size=3", (), custom=True) == "field label not supported: spec.size"


def test_objects_outside_namespaces_are_not_selected_by_namespace() -> None:
    selectable = ("status.phase",)
    text = "metadata.namespace=x"

    assert check(text, selectable, namespaced=False) == f"field label not supported: {text[:-2]}"
    assert check(text, selectable) == text


def test_the_old_name_of_a_pods_node_is_read_as_the_new_one_by_pods_only() -> None:
    assert check("spec.host=n", ("spec.nodeName",)) == "spec.nodeName=n"
    assert check("spec.host=n", ("spec.host",)) == "spec.host=n"
    assert check("spec.host=n", ("status.phase",)) == "field label not supported: spec.host"


def test_order_spaces_and_a_doubled_sign_make_no_other_selector() -> None:
    one = Selector.parse("b=2, a == 1,c in (y,x)", "f=1,e!=2")
    other = Selector.parse("c in (x,y,x),a=1,b=2", "e!=2,f==1")

    assert one == other
    assert hash(one) == hash(other)
    assert str(one) == "labels:a=1,b=2,c in (x,y) fields:e!=2,f=1"


def test_a_selector_is_read_once() -> None:
    assert LabelSelector.parse("x=once") is LabelSelector.parse("x=once")
    assert FieldSelector.parse("x=once") is FieldSelector.parse("x=once")


def test_everything_is_empty() -> None:
    assert EVERYTHING.empty
    assert EVERYTHING.equality_terms() == ()
    assert Selector.parse("", "") == EVERYTHING
    assert not Selector.parse("a").empty
    assert not Selector.parse("", "a=b").empty


def test_equality_terms_offer_the_alternatives_of_each_positive_term() -> None:
    selector = Selector.parse("a in (1,2),b=3,c!=4,d notin (5),e,!f,g>1", "h=,i!=7")

    assert selector.equality_terms() == (
        (Term("label", "a", "1"), Term("label", "a", "2")),
        (Term("label", "b", "3"),),
        (Term("field", "h", ""),),
    )


def test_a_selector_tells_the_one_value_that_it_requires() -> None:
    assert FieldSelector.parse("metadata.name=a,b!=c").requires("metadata.name") == "a"
    assert FieldSelector.parse("metadata.name!=a").requires("metadata.name") is None
    assert LabelSelector.parse("a in (x)").requires("a") == "x"
    assert LabelSelector.parse("a in (x,y)").requires("a") is None


def test_a_workloads_selector_is_read_from_its_object() -> None:
    selector = LabelSelector.of(
        {
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["b", "a"]},
                {"key": "old", "operator": "DoesNotExist"},
            ],
        }
    )

    assert str(selector) == "app=web,!old,tier in (a,b)"
    assert LabelSelector.of(None) is None
    assert LabelSelector.of({}) == LabelSelector()


@pytest.mark.parametrize(
    "expression",
    [
        {"key": "tier", "operator": "Near", "values": ["b"]},
        {"key": "tier", "operator": "In"},
        {"key": "tier", "operator": "Exists", "values": ["b"]},
        {"key": "-", "operator": "Exists"},
    ],
)
def test_a_workloads_selector_that_cannot_be_is_refused(expression: dict[str, object]) -> None:
    with pytest.raises(StatusError):
        LabelSelector.of({"matchExpressions": [expression]})


# Properties

ALPHABET = "ab1"
values = st.text(ALPHABET, max_size=2)
keys = st.one_of(
    st.sampled_from(["in", "notin", "a", "b", "app.test/x", "a/b"]),
    st.text(string.ascii_letters + string.digits, min_size=1, max_size=3),
)


@st.composite
def requirements(draw: st.DrawFn) -> Requirement:
    operator = draw(st.sampled_from(Operator))
    if operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST):
        found: list[str] = []
    elif operator in (Operator.GREATER, Operator.LESS):
        found = [str(draw(st.integers(0, 9)))]
    elif operator in (Operator.IN, Operator.NOT_IN):
        found = draw(st.lists(values, min_size=1, max_size=3))
    else:
        found = [draw(values)]
    return Requirement(draw(keys), operator, tuple(sorted(set(found))))


label_selectors = st.lists(requirements(), max_size=4).map(lambda rs: LabelSelector(tuple(rs)))
field_terms = st.builds(
    FieldTerm,
    st.sampled_from(["metadata.name", "spec.nodeName", "x"]),
    st.text(ALPHABET + r"\,=!", max_size=4),
    st.booleans(),
)
field_selectors = st.lists(field_terms, max_size=4).map(lambda ts: FieldSelector(tuple(ts)))
label_sets = st.dictionaries(st.sampled_from(["in", "a", "b", "a/b"]), values, max_size=4)
field_sets = st.fixed_dictionaries(dict.fromkeys(("metadata.name", "spec.nodeName", "x"), values))


@given(label_selectors)
def test_a_label_selectors_text_reads_as_itself(selector: LabelSelector) -> None:
    assert LabelSelector.parse(str(selector)) == selector


@given(field_selectors)
def test_a_field_selectors_text_reads_as_itself(selector: FieldSelector) -> None:
    assert FieldSelector.parse(str(selector)) == selector


def code_of(parse: Callable[[str], object], text: str) -> int:
    try:
        parse(text)
    except StatusError as refusal:
        return refusal.code
    return 0


@given(st.text(string.printable + "ü", max_size=20))
def test_any_text_is_read_or_refused_with_400(text: str) -> None:
    assert code_of(LabelSelector.parse, text) in (0, 400)
    assert code_of(FieldSelector.parse, text) in (0, 400)


@given(label_selectors, field_selectors, label_sets, field_sets)
def test_what_matches_has_an_alternative_of_every_equality(
    labels: LabelSelector,
    fields: FieldSelector,
    label_set: dict[str, str],
    field_set: dict[str, str],
) -> None:
    selector = Selector(labels, fields)
    version = cast("Version", SimpleNamespace(labels=label_set, fields=field_set))
    present = {Term("label", *pair) for pair in label_set.items()}
    present |= {Term("field", *pair) for pair in field_set.items()}

    if selector.matches(version):
        assert all(present.intersection(terms) for terms in selector.equality_terms())
