"""Faults of the kinds outside the core and apps groups, as a Status tells them."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.editing.examples import EXAMPLES, NAMES
from listwatch.protocol.kinds import GroupVersionKind, Resource
from listwatch.schemas.kinds import kept_resources
from tests.schemas.validated import Document, told

KINDS = {resource.kind: resource for resource in kept_resources() if resource.kind in EXAMPLES}
# The selector of a job is made by its strategy, between defaulting and validation.
WITHOUT_STRATEGY = [resource for resource in KINDS.values() if resource.kind != "Job"]


def faulty(kind: str, document: Document, old: Document | None = None) -> list[str]:
    return told(KINDS[kind].gvk, document, old)


@pytest.mark.parametrize("resource", WITHOUT_STRATEGY, ids=lambda resource: resource.kind)
def test_the_example_of_a_kind_has_no_fault_and_can_stay_as_it_is(resource: Resource) -> None:
    document = {**EXAMPLES[resource.kind]}
    document["metadata"] = {"name": NAMES.get(resource.kind, "example")}

    assert told(resource.gvk, document) == []
    assert told(resource.gvk, document, document) == []


def job(restart: str = "Never", **spec: Any) -> Document:  # Any: JSON
    pod = {"restartPolicy": restart, "containers": [{"name": "main", "image": "i"}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    return {"spec": {"template": template, "selector": {"matchLabels": {"a": "b"}}, **spec}}


FIELD = "spec.template.spec.restartPolicy"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (job("Always"), [f'{FIELD}: Required value: valid values: "OnFailure", "Never"']),
        (
            job("OnFailure", podFailurePolicy={"rules": []}),
            [
                (
                    f'{FIELD}: Invalid value: "OnFailure": only "Never" is supported when '
                    "podFailurePolicy is specified"
                )
            ],
        ),
        (
            job(parallelism=-1),
            ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            job(completionMode="Indexed", parallelism=2),
            ["spec.completions: Required value: when completion mode is Indexed"],
        ),
        (
            job(selector={"matchLabels": {"x": "y"}}),
            [
                (
                    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not '
                    "match template `labels`"
                )
            ],
        ),
    ],
)
def test_jobs(document: Document, expected: list[str]) -> None:
    assert faulty("Job", document) == expected


def cron(**spec: Any) -> Document:  # Any: JSON
    inner = job()["spec"]
    del inner["selector"]
    return {"spec": {"schedule": "@daily", "jobTemplate": {"spec": inner}, **spec}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"schedule": ""}, "spec.schedule: Required value"),
        (
            {"schedule": "often"},
            'spec.schedule: Invalid value: "often": expected exactly 5 fields, found 1: [often]',
        ),
        (
            {"schedule": "TZ=UTC @daily"},
            (
                'spec.schedule: Invalid value: "TZ=UTC @daily": cannot use TZ or CRON_TZ in '
                "schedule, "
                "use timeZone field instead"
            ),
        ),
        (
            {"timeZone": "Nowhere/Land"},
            'spec.timeZone: Invalid value: "Nowhere/Land": unknown time zone Nowhere/Land',
        ),
        (
            {"concurrencyPolicy": "Maybe"},
            (
                'spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", '
                '"Forbid", "Replace"'
            ),
        ),
    ],
)
def test_cron_jobs(spec: Document, expected: str) -> None:
    assert faulty("CronJob", cron(**spec)) == [expected]


def test_the_name_of_a_cron_job_leaves_room_for_its_jobs() -> None:
    name = "a" * 53

    assert faulty("CronJob", {"metadata": {"name": name}, **cron()}) == [
        f'metadata.name: Invalid value: "{name}": must be no more than 52 characters'
    ]


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        (
            "PersistentVolumeClaim",
            {},
            [
                "spec.accessModes: Required value: at least 1 access mode is required",
                "spec.resources[storage]: Required value",
            ],
        ),
        (
            "PersistentVolume",
            {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}},
            ["spec: Required value: must specify a volume type"],
        ),
        (
            "PodDisruptionBudget",
            {"minAvailable": "200%"},
            ['spec.minAvailable: Invalid value: "200%": must not be greater than 100%'],
        ),
        (
            "HorizontalPodAutoscaler",
            {
                "minReplicas": 3,
                "maxReplicas": 2,
                "scaleTargetRef": {"kind": "D", "name": "d", "apiVersion": "apps/v1"},
            },
            ["spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`"],
        ),
        (
            "Ingress",
            {},
            ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"],
        ),
        (
            "Ingress",
            {"rules": [{"host": "192.0.2.1", "http": {"paths": []}}]},
            [
                (
                    'spec.rules[0].host: Invalid value: "192.0.2.1": must be a DNS name, not an IP '
                    "address"
                ),
                "spec.rules[0].http.paths: Required value",
            ],
        ),
        (
            "NetworkPolicy",
            {"ingress": [{"from": [{}], "ports": [{"endPort": 3}]}]},
            [
                (
                    "spec.ingress[0].ports[0].endPort: Invalid value: 3: may not be specified when "
                    "`port` is not specified"
                ),
                "spec.ingress[0].from[0]: Required value: must specify a peer",
            ],
        ),
        (
            "IngressClass",
            {"controller": "none"},
            [
                (
                    'spec.controller: Invalid value: "none": must be a domain-prefixed path '
                    "(such as "
                    '"acme.io/foo")'
                )
            ],
        ),
        (
            "LimitRange",
            {"limits": [{"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}}]},
            [
                (
                    'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max '
                    "value 1"
                ),
                (
                    'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than '
                    "default "
                    "request value 1"
                ),
                (
                    'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than '
                    "default "
                    "value 1"
                ),
            ],
        ),
        (
            "ResourceQuota",
            {"hard": {"pods": "1500m", "nonsense": "1"}},
            [
                'spec.hard[pods]: Invalid value: "1500m": must be an integer',
                (
                    'spec.hard[nonsense]: Invalid value: "nonsense": must be a standard '
                    "resource type or fully qualified"
                ),
                (
                    'spec.hard[nonsense]: Invalid value: "nonsense": must be a standard '
                    "resource for "
                    "quota"
                ),
            ],
        ),
        (
            "FlowSchema",
            {"matchingPrecedence": 10001, "priorityLevelConfiguration": {"name": "x"}},
            ["spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"],
        ),
        (
            "CertificateSigningRequest",
            {"request": "eA==", "signerName": "x", "usages": ["any"]},
            [
                'spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST',
                (
                    'spec.signerName: Invalid value: "x": must be a fully qualified domain and '
                    "path of "
                    "the form 'example.com/signer-name'"
                ),
            ],
        ),
    ],
)
def test_specs(kind: str, spec: Document, expected: list[str]) -> None:
    assert faulty(kind, {"spec": spec}) == expected


@pytest.mark.parametrize(
    ("kind", "old", "change", "expected"),
    [
        (
            "StorageClass",
            {"provisioner": "a.test/p"},
            {"provisioner": "b.test/p"},
            'provisioner: Invalid value: "b.test/p": field is immutable',
        ),
        (
            "PriorityClass",
            {"value": 1},
            {"value": 2},
            "value: Forbidden: may not be changed in an update.",
        ),
        (
            "RuntimeClass",
            {"handler": "a"},
            {"handler": "b"},
            'handler: Invalid value: "b": field is immutable',
        ),
        (
            "ControllerRevision",
            {"data": {"a": 1}},
            {"data": {"a": 2}},
            'data: Invalid value: {"a":2}: field is immutable',
        ),
    ],
)
def test_what_cannot_be_changed(kind: str, old: Document, change: Document, expected: str) -> None:
    assert faulty(kind, {**old, **change}, old) == [expected]


def claim(phase: str = "Pending", size: str = "1Gi", **spec: Any) -> Document:  # Any: JSON
    resources = {"requests": {"storage": size}}
    return {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec},
        "status": {"phase": phase, "capacity": {"storage": "1Gi"}},
    }


def test_a_claim_grows_once_it_is_bound_and_does_not_shrink() -> None:
    fixed = (
        "spec: Forbidden: spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims\n"
    )
    kind = "PersistentVolumeClaim"

    assert faulty(kind, claim("Bound", "2Gi"), claim("Bound")) == []
    grown = (
        '@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n'
        '-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n'
    )
    assert faulty(kind, claim(size="2Gi"), claim()) == [fixed + grown]
    assert faulty(kind, claim(volumeName="v"), claim()) == []
    assert faulty(kind, claim("Bound", "500Mi"), claim("Bound")) == [
        "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
    ]


def test_names_that_are_the_systems() -> None:
    own = faulty("PriorityClass", {"metadata": {"name": "system-mine"}, "value": 5})
    known = {"metadata": {"name": "system-node-critical"}, "value": 2_000_001_000}

    assert own[0].startswith("metadata.name: Forbidden: priority class names with 'system-' prefix")
    assert faulty("PriorityClass", known) == []
    assert faulty("PriorityClass", {"value": 1_000_000_001}) == [
        "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"
    ]


def hook(**more: Any) -> Document:  # Any: JSON
    (example,) = EXAMPLES["ValidatingWebhookConfiguration"]["webhooks"]
    return {"webhooks": [{**example, **more}]}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            {"name": "short.test"},
            (
                'webhooks[0].name: Invalid value: "short.test": should be a domain with at least '
                "three segments separated by dots"
            ),
        ),
        (
            {"sideEffects": None},
            "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
        ),
        (
            {"timeoutSeconds": 31},
            (
                "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be "
                "between 1 "
                "and 30 seconds"
            ),
        ),
        (
            {"clientConfig": {}},
            "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
        ),
        (
            {"clientConfig": {"url": "http://a.test/"}},
            (
                "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only "
                "allowed "
                "URL scheme; desired format: https://host[/path]"
            ),
        ),
    ],
)
def test_webhooks(more: Document, expected: str) -> None:
    assert faulty("ValidatingWebhookConfiguration", hook(**more)) == [expected]


def test_names_of_addresses_and_of_requests_follow_rules_of_their_own() -> None:
    address = GroupVersionKind("networking.k8s.io", "v1", "IPAddress")
    parent = EXAMPLES["IPAddress"]
    request = EXAMPLES["CertificateSigningRequest"]

    assert told(address, {"metadata": {"name": "2001:db8::1"}, **parent}) == []
    assert told(address, {"metadata": {"name": "2001:DB8::1"}, **parent})
    assert faulty("CertificateSigningRequest", {"metadata": {"name": "a:B"}, **request}) == []
