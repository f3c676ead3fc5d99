from __future__ import annotations

import pytest

from tests.schemas.validated import (
    LABEL,
    POD,
    Document,
    faults,
    pod,
    told,
)

TERMS = (
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
)


def terms(key: str) -> Document:
    expressions = [{"matchExpressions": [{"key": key, "operator": "Exists"}]}]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": expressions}}


def test_several_faults_come_in_upstreams_order() -> None:
    container = {"name": "A_b", "ports": [{"containerPort": 0}]}
    document = {"spec": {"containers": [container], "restartPolicy": "Maybe"}}

    assert told(POD, document) == [
        f'spec.containers[0].name: Invalid value: "A_b": {LABEL}',
        "spec.containers[0].image: Required value",
        "spec.containers[0].ports[0].containerPort: Required value",
        (
            'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", '
            '"OnFailure", "Never"'
        ),
    ]


def test_a_pod_needs_containers() -> None:
    assert told(POD, {}) == ["spec.containers: Required value"]


def test_names_are_unique() -> None:
    containers = [{"name": "a", "image": "i"}, {"name": "a", "image": "i"}]
    volumes = [{"name": "v"}, {"name": "v"}]

    assert told(POD, pod(containers=containers, volumes=volumes)) == [
        'spec.volumes[1].name: Duplicate value: "v"',
        'spec.containers[1].name: Duplicate value: "a"',
    ]


def test_a_mount_needs_a_volume() -> None:
    mounts = [{"name": "v", "mountPath": "/a"}, {"name": "w", "mountPath": "/a"}]
    containers = [{"name": "a", "image": "i", "volumeMounts": mounts}]

    assert told(POD, pod(containers=containers, volumes=[{"name": "v"}])) == [
        'spec.containers[0].volumeMounts[1].name: Not found: "w"',
        'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
    ]


def test_a_volume_has_one_source() -> None:
    volumes = [
        {"name": "v", "emptyDir": {}, "configMap": {"name": "c"}},
        {"name": "w", "secret": {}},
    ]

    assert told(POD, pod(volumes=volumes)) == [
        "spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type",
        "spec.volumes[1].secret.secretName: Required value",
    ]


def test_nobody_requests_more_than_his_limit() -> None:
    resources = {"requests": {"cpu": "2"}, "limits": {"cpu": "1500m", "x": "1"}}
    containers = [{"name": "a", "image": "i", "resources": resources}]

    assert told(POD, pod(containers=containers)) == [
        (
            'spec.containers[0].resources.limits[x]: Invalid value: "x": must be a standard '
            "resource type or fully qualified"
        ),
        (
            'spec.containers[0].resources.limits[x]: Invalid value: "x": must be a standard '
            "resource for containers"
        ),
        (
            'spec.containers[0].resources.requests: Invalid value: "2": must be less than or '
            "equal to cpu limit of 1500m"
        ),
        (
            'spec.containers[0].resources.requests[x]: Invalid value: "x": must be a standard '
            "resource type or fully qualified"
        ),
        (
            'spec.containers[0].resources.requests[x]: Invalid value: "x": must be a standard '
            "resource for containers"
        ),
    ]


def test_a_probe_has_one_handler() -> None:
    containers = [
        {
            "name": "a",
            "image": "i",
            "livenessProbe": {"httpGet": {"port": "a--b"}, "successThreshold": 2},
            "readinessProbe": {"exec": {"command": ["x"]}, "tcpSocket": {"port": 1}},
            "startupProbe": {},
        }
    ]

    assert told(POD, pod(containers=containers)) == [
        (
            'spec.containers[0].livenessProbe.httpGet.port: Invalid value: "a--b": must not '
            "contain consecutive hyphens"
        ),
        "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
        (
            "spec.containers[0].readinessProbe.tcpSocket: Forbidden: may not specify more "
            "than 1 handler type"
        ),
        "spec.containers[0].startupProbe: Required value: must specify a handler type",
    ]


def test_environment_and_tolerations() -> None:
    env = [{"name": "a=b"}, {"name": "B", "value": "x", "valueFrom": {"fieldRef": {}}}]
    tolerations = [
        {"key": "k", "operator": "Exists", "value": "v"},
        {"operator": "Like", "key": "k"},
    ]
    containers = [{"name": "a", "image": "i", "env": env}]
    messages = told(POD, pod(containers=containers, tolerations=tolerations))

    assert [message.split(": ")[0] for message in messages] == [
        "spec.containers[0].env[0].name",
        "spec.containers[0].env[1].valueFrom.fieldRef.fieldPath",
        "spec.containers[0].env[1].valueFrom",
        "spec.tolerations[0].operator",
        "spec.tolerations[1].operator",
    ]


def test_the_image_and_the_deadline_may_change() -> None:
    after = pod(
        containers=[{"name": "main", "image": "i:1b", "imagePullPolicy": "IfNotPresent"}],
        activeDeadlineSeconds=60,
        tolerations=[{"operator": "Exists"}],
    )

    assert told(POD, after, pod()) == []


def test_hardly_anything_else_of_a_spec_may() -> None:
    more = [{"name": "main", "image": "i:1"}, {"name": "side", "image": "i:1"}]

    assert told(POD, pod(containers=more), pod()) == [
        "spec.containers: Forbidden: pod updates may not add or remove containers"
    ]
    [cause] = faults(POD, pod(restartPolicy="Never"), pod())
    assert (cause.reason, cause.field) == ("FieldValueForbidden", "spec")
    [cause] = faults(POD, pod(nodeName="n"), pod())
    assert (cause.reason, cause.field) == ("FieldValueForbidden", "spec")


def test_what_was_changed_is_shown_as_the_servers_structure_has_it() -> None:
    before = pod(hostNetwork=True, terminationGracePeriodSeconds=30)

    [cause] = faults(POD, pod(hostNetwork=True, terminationGracePeriodSeconds=7), before)

    assert cause.message.partition("negative)\n")[2] == (
        '@@ -36,7 +36,7 @@\n  ],\n  "EphemeralContainers": null,\n  "RestartPolicy": "Always",\n'
        '- "TerminationGracePeriodSeconds": 30,\n+ "TerminationGracePeriodSeconds": 7,\n'
        '  "ActiveDeadlineSeconds": null,\n  "DNSPolicy": "ClusterFirst",\n'
        '  "NodeSelector": null,\n'
    )
    [cause] = faults(POD, pod(terminationGracePeriodSeconds=30), before)
    assert '-  "HostNetwork": true,\n+  "HostNetwork": false,\n' in cause.message


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"a": "1", "b": "2"}}, ""),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"b": "2"}}, "spec.nodeSelector"),
        ({}, {"affinity": {"nodeAffinity": terms("k")}}, ""),
        ({"affinity": {"nodeAffinity": terms("k")}},
         {"affinity": {"nodeAffinity": terms("l")}}, f"{TERMS}[0]"),
        ({"affinity": {"nodeAffinity": terms("k")}}, {}, TERMS),
        ({}, {"affinity": {"podAffinity": {}}}, "spec"),
    ],
)  # fmt: skip
def test_where_a_pod_behind_a_gate_may_run_can_be_narrowed(
    before: Document, after: Document, wrong: str
) -> None:
    gates = [{"name": "g.test/a"}]

    found = faults(POD, pod(schedulingGates=gates, **after), pod(schedulingGates=gates, **before))

    assert [cause.field for cause in found] == ([wrong] if wrong else [])
    # Nothing of that may change where there is no gate.
    assert faults(POD, pod(**after), pod(**before))


def test_a_pod_with_no_dns_policy_brings_its_own_servers() -> None:
    assert told(POD, pod(dnsPolicy="None")) == [
        "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"
    ]
    assert told(POD, pod(dnsPolicy="None", dnsConfig={"nameservers": ["192.0.2.1"]})) == []


def test_deadlines_tolerations_and_gates_go_one_way_only() -> None:
    before = pod(activeDeadlineSeconds=60, tolerations=[{"key": "k", "operator": "Exists"}])

    assert told(POD, pod(activeDeadlineSeconds=61), before) == [
        (
            "spec.activeDeadlineSeconds: Invalid value: 61: must be less than or equal to "
            "previous value"
        ),
        (
            "spec.tolerations: Forbidden: existing toleration can not be modified except its "
            "tolerationSeconds"
        ),
    ]
    assert told(POD, pod(), pod(schedulingGates=[{"name": "g.test/a"}])) == []
    assert told(POD, pod(schedulingGates=[{"name": "g.test/a"}]), pod()) == [
        (
            "spec.schedulingGates: Forbidden: only deletion is allowed, but found new "
            "scheduling gate 'g.test/a'"
        )
    ]
