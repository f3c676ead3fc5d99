from __future__ import annotations

import base64

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.api.timeouts import deadline, parse_duration
from listwatch.protocol.continue_tokens import NEWEST, ContinueToken, decode
from listwatch.protocol.errors import StatusError
from listwatch.protocol.options import (
    DeleteOptions,
    GetOptions,
    ListOptions,
    WriteOptions,
    parse_revision,
)


def refusal(query: dict[str, list[str]], **more: bool) -> list[tuple[str, str, str]]:
    with pytest.raises(StatusError) as caught:
        ListOptions.from_query(query, **more)
    assert caught.value.code == 422
    assert caught.value.details == {"group": "meta.k8s.io", "kind": "ListOptions"}
    return [(cause.field, cause.reason, cause.message) for cause in caught.value.causes]


@pytest.mark.parametrize(
    ("query", "field", "reason", "words"),
    [
        ({"resourceVersionMatch": ["Exact"]},
         "resourceVersionMatch", "FieldValueForbidden", "unless resourceVersion is provided"),
        ({"resourceVersionMatch": ["Exact"], "resourceVersion": ["5"], "continue": ["x"]},
         "resourceVersionMatch", "FieldValueForbidden", "when continue is provided"),
        ({"resourceVersionMatch": ["Best"], "resourceVersion": ["5"]},
         "resourceVersionMatch", "FieldValueNotSupported",
         'Unsupported value: "Best": supported values: "Exact", "NotOlderThan", ""'),
        ({"resourceVersionMatch": ["Exact"], "resourceVersion": ["0"]},
         "resourceVersionMatch", "FieldValueForbidden", 'for resourceVersion "0"'),
        ({"sendInitialEvents": ["false"]},
         "sendInitialEvents", "FieldValueForbidden", "forbidden for list"),
        ({"watch": ["1"], "sendInitialEvents": ["true"]},
         "resourceVersionMatch", "FieldValueForbidden", "to NotOlderThan"),
        ({"watch": ["1"], "resourceVersion": ["5"], "resourceVersionMatch": ["NotOlderThan"]},
         "resourceVersionMatch", "FieldValueForbidden", "unless sendInitialEvents is provided"),
        ({"watch": ["1"], "sendInitialEvents": ["1"], "resourceVersionMatch": ["Exact"]},
         "resourceVersionMatch", "FieldValueForbidden", "to NotOlderThan"),
    ],
)  # fmt: skip
def test_combinations_that_mean_nothing_are_refused_by_field(
    query: dict[str, list[str]], field: str, reason: str, words: str
) -> None:
    causes = refusal(query)

    assert causes[0][:2] == (field, reason)
    assert words in causes[0][2]


def test_every_fault_is_a_cause() -> None:
    causes = refusal({"resourceVersionMatch": ["Best"], "continue": ["x"]})

    assert len(causes) == 3


def test_streaming_lists_can_be_off() -> None:
    query = {"watch": ["1"], "sendInitialEvents": ["1"], "resourceVersionMatch": ["NotOlderThan"]}
    causes = refusal(query, streaming_lists=False)

    assert causes[0][0] == "sendInitialEvents"
    assert ListOptions.from_query({"watch": ["1"]}, streaming_lists=False) == ListOptions(
        watch=True
    )


@pytest.mark.parametrize("revision", [None, "", "0"])
def test_a_watch_from_any_state_is_a_streaming_list(revision: str | None) -> None:
    query = {"watch": ["true"]} | ({} if revision is None else {"resourceVersion": [revision]})
    options = ListOptions.from_query(query)

    assert options.send_initial_events
    assert options.resource_version_match == "NotOlderThan"


def test_a_forced_watch_is_read_as_what_its_query_says() -> None:
    options = ListOptions.from_query({}, forced_watch=True)

    assert (options.watch, options.send_initial_events) == (True, None)
    refusal({"sendInitialEvents": ["true"]}, forced_watch=True)


def test_the_first_value_counts_and_a_negative_limit_is_none() -> None:
    options = ListOptions.from_query({"limit": ["-1", "5"], "timeoutSeconds": ["7", "8"]})

    assert (options.limit, options.timeout_seconds) == (0, 7)


@pytest.mark.parametrize("name", ["limit", "timeoutSeconds"])
@pytest.mark.parametrize("value", ["abc", "", "1.5", "1_0", "9" * 20])
def test_a_number_that_is_none_is_400(name: str, value: str) -> None:
    with pytest.raises(StatusError, match=r"strconv\.ParseInt: parsing") as caught:
        ListOptions.from_query({name: [value]})

    assert caught.value.code == 400


@pytest.mark.parametrize("text", ["abc", "-1", "1.5", "+1", " 1", "9" * 23])
def test_a_resource_version_that_is_no_number_is_400(text: str) -> None:
    with pytest.raises(StatusError, match="invalid resource version: resourceVersion: Invalid"):
        parse_revision(text)


def test_a_resource_version_is_64_bits() -> None:
    assert parse_revision(str(2**64 - 1)) == 2**64 - 1
    assert parse_revision("") == 0


def test_export_is_history() -> None:
    with pytest.raises(StatusError):
        GetOptions.from_query({"export": ["1"]})
    assert GetOptions.from_query({"export": ["0"], "resourceVersion": ["5"]}) == GetOptions("5")


@pytest.mark.parametrize("value", ["true", "", "all"])
def test_a_dry_run_is_of_all_or_none(value: str) -> None:
    with pytest.raises(StatusError) as caught:
        WriteOptions.from_query({"dryRun": [value]}, "CreateOptions")

    message = f'Unsupported value: ["{value}"]: supported values: "All"'
    assert caught.value.causes[0].message == message
    assert WriteOptions.from_query({"dryRun": ["All"]}, "CreateOptions").dry_run


@pytest.mark.parametrize("manager", ["x" * 129, "tab\t", "line\n"])
def test_a_field_manager_is_short_and_printable(manager: str) -> None:
    with pytest.raises(StatusError) as caught:
        WriteOptions.from_query({"fieldManager": [manager]}, "UpdateOptions")

    assert caught.value.causes[0].field == "fieldManager"


def test_field_validation_is_one_of_three_and_warns_by_default() -> None:
    with pytest.raises(StatusError):
        WriteOptions.from_query({"fieldValidation": ["Loud"]}, "CreateOptions")
    assert WriteOptions.from_query({}, "CreateOptions").field_validation == "Warn"


def test_an_apply_patch_names_its_manager() -> None:
    kind = "application/apply-patch+yaml"
    with pytest.raises(StatusError, match="is required for apply patch"):
        WriteOptions.from_query({}, "PatchOptions", patch_type=kind)
    query = {"fieldManager": ["m"], "force": ["true"]}
    assert WriteOptions.from_query(query, "PatchOptions", patch_type=kind).force


def test_an_option_of_another_type_is_told_as_the_original_does() -> None:
    with pytest.raises(StatusError) as caught:
        DeleteOptions.from_document({"gracePeriodSeconds": "x"})

    assert caught.value.message == (
        "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of "
        "type int64"
    )


@pytest.mark.parametrize(
    "document",
    [{"gracePeriodSeconds": "x"}, {"gracePeriodSeconds": True}, {"orphanDependents": "yes"},
     {"preconditions": []}, {"dryRun": "All"}, {"kind": "ConfigMap", "apiVersion": "v1"}],
)  # fmt: skip
def test_a_body_of_a_delete_that_is_none_is_400(document: dict[str, object]) -> None:
    with pytest.raises(StatusError) as caught:
        DeleteOptions.from_document(document)

    assert caught.value.code == 400


def test_a_delete_orphans_in_one_way_only() -> None:
    with pytest.raises(StatusError) as caught:
        DeleteOptions.from_document({"orphanDependents": True, "propagationPolicy": "Foreground"})
    assert caught.value.code == 422

    assert DeleteOptions.from_document({"propagationPolicy": "Orphan"}).propagation_policy
    with pytest.raises(StatusError, match="Sideways"):
        DeleteOptions.from_query({"propagationPolicy": ["Sideways"]})


names = st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), min_size=1, max_size=20)


@settings(deadline=None)
@given(names, names, st.integers(1, 2**63 - 1))
def test_a_token_goes_on_behind_its_key(namespace: str, name: str, revision: int) -> None:
    key = f"{namespace}/{name}"
    within = decode(ContinueToken.after(key, namespace, revision).encode())
    across = decode(ContinueToken.after(f"{key}\0", "", revision).encode())

    assert within.start_key(namespace) == across.start_key("") == f"{key}\0"
    assert within.revision == revision


def test_a_token_cannot_leave_the_namespace_it_is_replayed_in() -> None:
    token = ContinueToken.after("a/x", "", 5)

    assert decode(token.encode()).start_key("b") == "b/a/x\0"


def test_a_token_of_no_state_has_upstreams_form() -> None:
    text = ContinueToken("a\0", NEWEST).encode()
    document = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))

    assert document == {"v": "meta.k8s.io/v1", "rv": -1, "start": "a\0"}


def token(**fields: object) -> str:
    whole = {"v": "meta.k8s.io/v1", "rv": 5, "start": "a", **fields}
    return base64.urlsafe_b64encode(orjson.dumps(whole)).decode().rstrip("=")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("abc", "invalid character 'i' looking for beginning of value"),
        ("%%", "illegal base64 data at input byte 0"),
        (token(v="meta.k8s.io/v9"), "does not recognize this encoded version meta.k8s.io/v9"),
        (token(rv=0), "incorrect encoded start resourceVersion"),
        (token(start=""), "encoded start key empty"),
        (token(start="../a"), "continue key is not valid: ../a"),
        (token(start="//a"), "continue key is not valid: //a"),
        (token(start="a/../../b"), "continue key is not valid: a/../../b"),
        (token(rv="5"), "cannot unmarshal"),
        ("W10", "cannot unmarshal"),
    ],
)  # fmt: skip
def test_a_token_that_is_none_says_why(text: str, why: str) -> None:
    with pytest.raises(StatusError) as caught:
        decode(text)

    assert caught.value.code == 400
    assert caught.value.message.startswith("invalid continue token: continue key is not valid: ")
    assert why in caught.value.message


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("0s", 0), ("1m30s", 90), ("1.5h", 5400), ("10ms", 0.01), ("-2s", -2), (".5s", 0.5)],
)
def test_durations_are_read_as_go_writes_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "1", "s", "1 s", "1d", "soon"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid duration"):
        parse_duration(text)


def test_a_timeout_shortens_the_deadline_and_never_prolongs_it() -> None:
    assert deadline({"timeout": ["1s"]}, 60.0) == 1.0
    assert deadline({"timeout": ["5m"]}, 60.0) == 60.0
    assert deadline({"timeout": ["0s"]}, 60.0) == 60.0
    assert deadline({}, 60.0) == 60.0


def test_of_two_numbers_that_are_none_the_time_is_told_first() -> None:
    with pytest.raises(StatusError, match='parsing "x"'):
        ListOptions.from_query({"limit": ["y"], "timeoutSeconds": ["x"]})


def test_control_characters_are_shown_as_go_does() -> None:
    with pytest.raises(StatusError) as caught:
        WriteOptions.from_query({"fieldManager": ["a\x01"]}, "CreateOptions")

    assert 'Invalid value: "a\\x01": invalid character U+0001' in caught.value.message
