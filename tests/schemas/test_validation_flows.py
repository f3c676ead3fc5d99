"""Faults of flow schemas and priority levels, as a Status of the real server tells them."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from tests.schemas.validated import Document, told

SCHEMA = GroupVersionKind("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema")
LEVEL = GroupVersionKind("flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration")
VERBS = '"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"'


def rule_faults(rule: Document) -> list[str]:
    """What a rule among others is refused for, without the place where it stands."""
    level = {"name": "x"}
    spec = {"matchingPrecedence": 5, "priorityLevelConfiguration": level, "rules": [rule]}
    return [text.removeprefix("spec.rules[0].") for text in told(SCHEMA, {"spec": spec})]


def test_a_subject_has_the_part_of_its_kind_and_no_other() -> None:
    paths = [{"verbs": ["get"], "nonResourceURLs": ["/a"]}]
    account = {"name": "B_", "namespace": ""}
    others = {"user": {"name": "u"}, "group": {"name": "g"}}
    told_of = rule_faults(
        {
            "nonResourceRules": paths,
            "subjects": [
                {"kind": "ServiceAccount", "serviceAccount": account, **others},
                {"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": "a"}},
                {"kind": "User", "user": {"name": ""}},
                {"kind": "Group"},
                {"kind": "Robot"},
            ],
        }
    )

    assert told_of[0].startswith('subjects[0].serviceAccount.name: Invalid value: "B_": a lower')
    assert told_of[1:] == [
        (
            "subjects[0].serviceAccount.namespace: Required value: must specify namespace for "
            "service account"
        ),
        "subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
        "subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
        "subjects[2].user.name: Required value",
        "subjects[3].group: Required value: group is required when subject kind is 'Group'",
        (
            'subjects[4].kind: Unsupported value: "Robot": supported values: "Group", '
            '"ServiceAccount", "User"'
        ),
    ]


def test_rules_say_which_requests_and_all_are_alone() -> None:
    everybody = [{"kind": "Group", "group": {"name": "g"}}]
    told_of = rule_faults({
        "subjects": everybody,
        "resourceRules": [
            {"verbs": ["*", "get"], "apiGroups": ["*", "a"], "resources": ["*", "b"],
             "namespaces": ["*", "b"]},
            {"verbs": ["bad", "get"], "clusterScope": True},
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["A_"]},
        ],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*", "/a"]}, {}],
    })  # fmt: skip

    start = 'resourceRules[3].namespaces[0]: Invalid value: "A_": each member of this list must'
    assert [text for text in told_of if not text.startswith(start)] == [
        (
            'resourceRules[0].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not '
            "specify other verbs"
        ),
        (
            'resourceRules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not '
            "specify other api groups"
        ),
        (
            'resourceRules[0].resources: Invalid value: ["*","b"]: if \'*\' is present, must not '
            "specify other resources"
        ),
        (
            'resourceRules[0].namespaces: Invalid value: ["*","b"]: if \'*\' is present, must not '
            "specify other namespaces"
        ),
        f'resourceRules[1].verbs: Unsupported value: ["bad","get"]: supported values: {VERBS}',
        (
            "resourceRules[1].apiGroups: Required value: resource rules must supply at least one "
            "api group"
        ),
        (
            "resourceRules[1].resources: Required value: resource rules must supply at least one "
            "resource"
        ),
        (
            "resourceRules[2].namespaces: Required value: resource rules that are not cluster "
            "scoped must supply at least one namespace"
        ),
        (
            'nonResourceRules[0].nonResourceURLs: Invalid value: ["*","/a"]: if \'*\' is present, '
            "must not specify other non-resource URLs"
        ),
        "nonResourceRules[1].verbs: Required value: verbs must contain at least one value",
        (
            "nonResourceRules[1].nonResourceURLs: Required value: nonResourceURLs must contain at "
            "least one value"
        ),
    ]
    assert len(told_of) == 12


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "must not be empty"),
        ("a", "must start with slash"),
        ("/a b", "must not contain white-space"),
        ("//", "must not contain double slash"),
        ("/a*", "wildcard can only do suffix matching"),
        ("/*/b", "wildcard can only do suffix matching"),
        ("/a/*", None),
        ("/", None),
    ],
)
def test_paths_end_with_their_wildcard(path: str, why: str | None) -> None:
    rule = {
        "subjects": [{"kind": "User", "user": {"name": "u"}}],
        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": [path]}],
    }
    field = "nonResourceRules[0].nonResourceURLs[0]"
    assert rule_faults(rule) == ([f'{field}: Invalid value: "{path}": {why}'] if why else [])


def test_a_schema_that_is_mandatory_stays_as_it_is() -> None:
    spec = {
        "priorityLevelConfiguration": {"name": "exempt"},
        "matchingPrecedence": 1,
        "rules": [
            {
                "subjects": [{"kind": "Group", "group": {"name": "system:masters"}}],
                "resourceRules": [
                    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"],
                     "clusterScope": True, "namespaces": ["*"]}
                ],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            }
        ],
    }  # fmt: skip
    exempt = {"metadata": {"name": "exempt"}, "spec": spec}

    assert told(SCHEMA, exempt) == []
    (changed,) = told(SCHEMA, {**exempt, "spec": {**spec, "matchingPrecedence": 77}})
    assert changed == (
        'spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"exempt"},'
        '"MatchingPrecedence":77,"DistinguisherMethod":null,"Rules":[{"Subjects":[{"Kind":'
        '"Group","User":null,"Group":{"Name":"system:masters"},"ServiceAccount":null}],'
        '"ResourceRules":[{"Verbs":["*"],"APIGroups":["*"],"Resources":["*"],"ClusterScope":true,'
        '"Namespaces":["*"]}],"NonResourceRules":[{"Verbs":["*"],"NonResourceURLs":["*"]}]}]}: '
        "spec of 'exempt' must equal the fixed value"
    )
    assert told(SCHEMA, {"spec": spec}) == [
        (
            "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have "
            "matchingPrecedence 1"
        )
    ]


def test_a_way_to_tell_flows_apart_is_one_of_two() -> None:
    spec = {"matchingPrecedence": 5, "priorityLevelConfiguration": {"name": "x"}}

    assert told(SCHEMA, {"spec": {**spec, "distinguisherMethod": {"type": "Bad"}}}) == [
        (
            'spec.distinguisherMethod.type: Unsupported value: {"Type":"Bad"}: supported values: '
            '"ByNamespace", "ByUser"'
        )
    ]


def test_conditions_have_types_and_each_once() -> None:
    spec = {"matchingPrecedence": 5, "priorityLevelConfiguration": {"name": "x"}}
    conditions = [{"type": "A"}, {"type": "A"}, {"status": "True"}]

    assert told(SCHEMA, {"spec": spec, "status": {"conditions": conditions}}) == [
        'status.conditions[1].type: Duplicate value: "A"',
        "status.conditions[2].type: Required value",
    ]


def queued(**queuing: int) -> Document:
    response = {"type": "Queue", "queuing": queuing}
    return {"spec": {"type": "Limited", "limited": {"limitResponse": response}}}


@pytest.mark.parametrize(
    ("queuing", "expected"),
    [
        ({}, []),
        ({"queues": 3}, ["handSize: Invalid value: 8: should not be greater than queues (3)"]),
        (
            {"queues": 64, "handSize": 20},
            [
                (
                    "handSize: Invalid value: 20: required entropy bits of deckSize 64 and "
                    "handSize 20 should not be greater than 60"
                )
            ],
        ),
        (
            {"queues": 10_000_001, "handSize": 1},
            ["queues: Invalid value: 10000001: must not be greater than 10000000"],
        ),
        (
            {"queues": -1, "handSize": -1, "queueLengthLimit": -1},
            [
                "queueLengthLimit: Invalid value: -1: must be positive",
                "queues: Invalid value: -1: must be positive",
                "handSize: Invalid value: -1: must be positive",
            ],
        ),
    ],
)
def test_queues_are_of_a_size_that_can_be_dealt_from(
    queuing: dict[str, int], expected: list[str]
) -> None:
    field = "spec.limited.limitResponse.queuing."
    assert told(LEVEL, queued(**queuing)) == [field + text for text in expected]


def limited(**more: Any) -> Document:  # Any: JSON
    level = {"limitResponse": {"type": "Reject"}, **more}
    return {"spec": {"type": "Limited", "limited": level}}


def test_shares_of_a_level() -> None:
    shares = {"nominalConcurrencyShares": -1, "lendablePercent": 101, "borrowingLimitPercent": -1}

    assert told(LEVEL, limited(**shares)) == [
        "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
        "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
        (
            "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a "
            "non-negative integer"
        ),
    ]


def test_only_the_level_named_so_is_exempt_and_its_shares_are_free() -> None:
    name, shares = {"name": "exempt"}, {"nominalConcurrencyShares": 3, "lendablePercent": 7}
    exempt = {"metadata": name, "spec": {"type": "Exempt", "exempt": shares}}

    assert told(LEVEL, exempt) == []
    assert told(LEVEL, {"spec": exempt["spec"]}) == [
        "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"
    ]
    assert told(LEVEL, {"metadata": name, **limited(nominalConcurrencyShares=7)}) == [
        "spec.type: Invalid value: \"Limited\": must be 'Exempt' if and only if `name` is 'exempt'",
        (
            'spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":7,'
            '"LimitResponse":{"Type":"Reject","Queuing":null},"LendablePercent":0,'
            '"BorrowingLimitPercent":null},"Exempt":null}: spec of \'exempt\' except the '
            "'spec.exempt' field must equal the fixed value"
        ),
    ]


def test_the_level_of_the_last_resort_stays_as_it_is() -> None:
    name = {"metadata": {"name": "catch-all"}}

    assert told(LEVEL, {**name, **limited(nominalConcurrencyShares=5)}) == []
    (changed,) = told(LEVEL, {**name, **limited(nominalConcurrencyShares=6)})
    assert changed.endswith("spec of 'catch-all' must equal the fixed value")
