from __future__ import annotations

import pytest

from tests.schemas.validated import (
    CONFIG_MAP,
    SECRET,
    told,
)


def test_keys_are_file_names() -> None:
    [message] = told(CONFIG_MAP, {"data": {"a/b": "x"}})

    assert message == (
        'data[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric '
        "characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex "
        "used for validation is '[-._a-zA-Z0-9]+')"
    )
    assert told(CONFIG_MAP, {"data": {"..": "x"}}) == [
        "data[..]: Invalid value: \"..\": must not be '..'"
    ]
    assert told(CONFIG_MAP, {"data": {"k": "v"}, "binaryData": {"k": "YQ=="}}) == [
        'data[k]: Invalid value: "k": duplicate of key present in binaryData'
    ]


def test_all_values_together_are_one_mebibyte() -> None:
    assert told(CONFIG_MAP, {"data": {"k": "v" * 1048576}}) == []
    assert told(CONFIG_MAP, {"data": {"k": "v" * 1048577}}) == [
        "[]: Too long: may not be more than 1048576 bytes"
    ]
    assert told(SECRET, {"data": {"k": "AAAA" * 349526}}) == [
        "data: Too long: may not be more than 1048576 bytes"
    ]


def test_immutable_means_data_and_the_mark_itself() -> None:
    before = {"data": {"k": "1"}, "immutable": True}

    assert told(CONFIG_MAP, {"data": {"k": "2"}, "immutable": True}, before) == [
        "data: Forbidden: field is immutable when `immutable` is set"
    ]
    assert told(CONFIG_MAP, {"data": {"k": "1"}, "immutable": False}, before) == [
        "immutable: Forbidden: field is immutable when `immutable` is set"
    ]
    assert told(CONFIG_MAP, {**before, "metadata": {"labels": {"x": "y"}}}, before) == []


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        ("kubernetes.io/tls", ["data[tls.crt]", "data[tls.key]"]),
        ("kubernetes.io/basic-auth", ["data[username]", "data[password]"]),
        ("kubernetes.io/ssh-auth", ["data[ssh-privatekey]"]),
        ("kubernetes.io/dockerconfigjson", ["data[.dockerconfigjson]"]),
        (
            "kubernetes.io/service-account-token",
            ["metadata.annotations[kubernetes.io/service-account.name]"],
        ),
        ("own.test/type", []),
    ],
)
def test_a_type_needs_its_keys(kind: str, missing: list[str]) -> None:
    assert told(SECRET, {"type": kind}) == [f"{field}: Required value" for field in missing]


def test_the_type_of_a_secret_stays() -> None:
    assert told(SECRET, {"type": "b"}, {"type": "a"}) == [
        'type: Invalid value: "b": field is immutable'
    ]
