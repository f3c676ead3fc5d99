"""Definitions that are refused, in the words of the original."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from listwatch.protocol.names import subdomain_faults
from listwatch.schemas.validation.names import label_1035_faults
from tests.schemas_structural.test_definition_faults import definition, told

(LABEL,) = label_1035_faults("?")
(SUBDOMAIN,) = subdomain_faults("?")
MIXED = f"may have mixed case, but should otherwise match: {LABEL}"
FORM = "desired format: https://host[/path]"
NOT_SET = "Forbidden: should not be set when strategy is not set to Webhook"
APPROVAL = "metadata.annotations[api-approved.kubernetes.io]"


def converted(**conversion: Any) -> list[str]:  # Any: JSON
    texts = told(definition(conversion=conversion))
    return [text.removeprefix("spec.conversion.") for text in texts]


def reached(**client: Any) -> list[str]:  # Any: JSON
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    texts = converted(strategy="Webhook", webhook=webhook)
    return [text.removeprefix("webhookClientConfig") for text in texts]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            {"singular": "", "kind": "", "listKind": ""},
            [
                "spec.names.singular: Required value",
                "spec.names.kind: Required value",
                "spec.names.listKind: Required value",
            ],
        ),
        (
            {"singular": "a_b", "kind": "a_b", "listKind": "a_bList"},
            [
                f'spec.names.singular: Invalid value: "a_b": {LABEL}',
                f'spec.names.kind: Invalid value: "a_b": {MIXED}',
                f'spec.names.listKind: Invalid value: "a_bList": {MIXED}',
            ],
        ),
    ],
)
def test_names(names: dict[str, str], expected: list[str]) -> None:
    assert told(definition(names={"plural": "widgets", **names})) == expected


@pytest.mark.parametrize(
    ("approval", "approved"),
    [
        ("unapproved, for a test", True),
        ("http://a.test", True),
        ("https://a.test/1", True),
        ("https://", False),
        ("://", False),
        ("approved", False),
    ],
)
def test_a_protected_group_is_approved_at_an_address(approval: str, approved: bool) -> None:
    made = definition(group="a.k8s.io")
    made["metadata"] = {
        "name": "widgets.a.k8s.io",
        "annotations": {"api-approved.kubernetes.io": approval},
    }

    assert [text.partition(": ")[0] for text in told(made)] == ([] if approved else [APPROVAL])


def test_only_a_webhook_has_a_configuration() -> None:
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://a.test"}}

    assert converted(strategy="None", webhook={}) == []
    assert converted(strategy="None", webhook=webhook) == [
        f"webhookClientConfig: {NOT_SET}",
        f"conversionReviewVersions: {NOT_SET}",
    ]


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ([], [": Required value"]),
        (["v1", "v1"], ['[1]: Invalid value: "v1": duplicate version']),
        (["V1", "v1beta1"], [f'[0]: Invalid value: "V1": {LABEL}']),
        (["v2"], [': Invalid value: ["v2"]: must include at least one of v1, v1beta1']),
    ],
)
def test_a_webhook_understands_a_review(versions: list[str], expected: list[str]) -> None:
    client = {"url": "https://a.test"}
    webhook = {"conversionReviewVersions": versions, "clientConfig": client}
    texts = converted(strategy="Webhook", webhook=webhook)

    assert texts == [f"conversionReviewVersions{text}" for text in expected]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.test", []),
        (
            "x",
            [
                f"Invalid value: \"\": 'https' is the only allowed URL scheme; {FORM}",
                f'Invalid value: "": host must be specified; {FORM}',
            ],
        ),
        (
            "://",
            [
                (
                    'Required value: url must be a valid URL: parse "://": missing protocol '
                    f"scheme; {FORM}"
                )
            ],
        ),
        (
            "https://u:p@a.test",
            ['Invalid value: "u:p": user information is not permitted in the URL'],
        ),
        ("https://a.test?b", ['Invalid value: "b": query parameters are not permitted in the URL']),
    ],
)
def test_a_webhook_has_an_address(url: str, expected: list[str]) -> None:
    assert reached(url=url) == [f".url: {text}" for text in expected]


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        # The one that is missing is the other one.
        ({"name": "a"}, ["name: Required value"]),
        ({"namespace": "a"}, ["namespace: Required value"]),
        (
            {"name": "a", "namespace": "b", "path": "x"},
            [
                "path: Invalid value: \"x\": must start with a '/'",
                'path: Invalid value: "x": segment[0] may not be empty',
            ],
        ),
        (
            {"name": "a", "namespace": "b", "path": "/a//b/"},
            ['path: Invalid value: "/a//b/": segment[1] may not be empty'],
        ),
        (
            {"name": "a", "namespace": "b", "path": "/a?"},
            [f'path: Invalid value: "/a?": segment[0]: {SUBDOMAIN}'],
        ),
        (
            {"name": "a", "namespace": "b", "port": 70000},
            [
                (
                    "port: Invalid value: 70000: port is not valid: must be between 1 and 65535, "
                    "inclusive"
                )
            ],
        ),
    ],
)
def test_a_webhook_may_be_a_service(service: dict[str, Any], expected: list[str]) -> None:
    assert reached(service=service) == [f".service.{text}" for text in expected]


@pytest.mark.parametrize(
    ("warning", "why"),
    [
        ("", "must not be an empty string"),
        ("x" * 257, "must be <= 256 characters long"),
        (
            "\u00e9\u200b",
            (
                "must only contain printable UTF-8 characters; non-printable character found at "
                "index 2"
            ),
        ),
    ],
)
def test_a_warning_can_be_printed(warning: str, why: str) -> None:
    made = definition()
    made["spec"]["versions"][0] |= {"deprecated": True, "deprecationWarning": warning}

    assert told(made) == [f'spec.versions[0].deprecationWarning: Invalid value: "{warning}": {why}']


def test_one_version_is_stored_and_is_known_to_be() -> None:
    made = definition()
    second = copy.deepcopy(made["spec"]["versions"][0]) | {"name": "v2"}
    made["spec"]["versions"].append(second)
    shown = ",".join(
        f'{{"Name":"{name}","Served":true,"Storage":true,"Deprecated":false,'
        '"DeprecationWarning":null,"Schema":null,"Subresources":null,'
        '"AdditionalPrinterColumns":null,"SelectableFields":null}'
        for name in ("v1", "v2")
    )

    assert told(made) == [
        (
            f"spec.versions: Invalid value: [{shown}]: must have exactly one version marked as "
            "storage version"
        ),
        'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
    ]


def test_the_first_name_is_told_of_twice() -> None:
    made = definition()
    made["spec"]["versions"][0]["name"] = "V1"
    made["status"]["storedVersions"] = ["V1"]

    assert told(made) == [
        f'spec.versions[0].name: Invalid value: "V1": {LABEL}',
        f'spec.version: Invalid value: "V1": {LABEL}',
    ]


def test_a_schema_may_be_empty_but_not_missing() -> None:
    made = definition()
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {}
    assert told(made) == [
        "spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root"
    ]
    made["spec"]["versions"][0]["schema"] = {}
    assert told(made) == ["spec.versions[0].schema.openAPIV3Schema: Required value"]
