"""What is wrong with a pod's settings, in the words of a real kube-apiserver 1.36.2."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schemas.validated import (
    DEPLOYMENT,
    LABEL,
    POD,
    STATEFUL_SET,
    Document,
    pod,
    told,
)

NAME = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
VALUES = "Required value: must be specified when `operator` is 'In' or 'NotIn'"


def container(**fields: Any) -> Document:  # Any: JSON
    return pod(containers=[{"name": "m", "image": "x", **fields}])


def volume(**source: Any) -> Document:  # Any: JSON
    return pod(volumes=[{"name": "v", **source}])


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            container(env=[{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "spec.bad"}}}]),
            [("spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "
             '"spec.bad": error converting fieldPath: field label not supported: spec.bad')],
        ),
        (
            container(lifecycle={"postStart": {}}),
            ["spec.containers[0].lifecycle.postStart: Required value: must specify a handler type"],
        ),
        (
            container(envFrom=[{}]),
            [('spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` '
             "or `secretRef`")],
        ),
        (
            container(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "X"}]),
            [('spec.containers[0].resizePolicy: Unsupported value: "X": supported values: '
             '"NotRequired", "RestartContainer"')],
        ),
        (
            container(volumeDevices=[{"name": "q", "devicePath": ""}]),
            ['spec.containers[0].volumeDevices[0].name: Not found: "q"',
             "spec.containers[0].volumeDevices[0].devicePath: Required value"],
        ),
        (
            pod(initContainers=[{"name": "i", "image": "x", "lifecycle": {"preStop": {
                "exec": {"command": ["a"]}}}}]),
            [("spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers "
             "without restartPolicy=Always")],
        ),
        (
            pod(ephemeralContainers=[{"name": "e", "image": "x"}]),
            ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
        ),
        (
            volume(hostPath={"path": "../x"}),
            ['spec.volumes[0].hostPath.path: Invalid value: "../x": must not contain \'..\''],
        ),
        (
            volume(emptyDir={"sizeLimit": "-1"}),
            [("spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid "
             "resource quantity")],
        ),
        (
            volume(nfs={"server": "", "path": "a"}),
            ["spec.volumes[0].nfs.server: Required value",
             'spec.volumes[0].nfs.path: Invalid value: "a": must be an absolute path'],
        ),
        (
            volume(secret={"secretName": "a", "items": [{"key": "", "path": "/abs"}]}),
            ["spec.volumes[0].secret.items[0].key: Required value",
             ('spec.volumes[0].secret.items[0].path: Invalid value: "/abs": must be a relative '
             "path")],
        ),
        (
            pod(tolerations=[{"operator": "Exists", "value": "x"}]),
            [('spec.tolerations[0].operator: Invalid value: "x": value must be empty when '
             "`operator` is 'Exists'")],
        ),
        (
            pod(hostAliases=[{"ip": "x"}]),
            [f'spec.hostAliases[0].ip: Invalid value: "x": {ADDRESS}'],
        ),
        (
            pod(dnsConfig={"nameservers": ["a"]}),
            [f'spec.dnsConfig.nameservers[0]: Invalid value: "a": {ADDRESS}'],
        ),
        (
            pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}),
            [(f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms: Required value: must have "
             "at least one node selector term")],
        ),
        (
            pod(affinity={"nodeAffinity": {PREFERRED: [{"weight": 0, "preference": {
                "matchExpressions": [{"key": "a", "operator": "In"}]}}]}}),
            [(f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: Invalid value: 0: must be in the "
             "range 1-100"),
             (f"spec.affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[0].values: "
             f"{VALUES}")],
        ),
        (
            pod(affinity={"podAffinity": {REQUIRED: [{"topologyKey": ""}]}}),
            [(f"spec.affinity.podAffinity.{REQUIRED}[0].topologyKey: Required value: can not be "
             "empty"),
             (f'spec.affinity.podAffinity.{REQUIRED}[0].topologyKey: Invalid value: "": name part '
             "must be non-empty"),
             f'spec.affinity.podAffinity.{REQUIRED}[0].topologyKey: Invalid value: "": {NAME}'],
        ),
        (
            pod(topologySpreadConstraints=[
                {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "X"}]),
            [("spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than "
             "zero"),
             "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
             ('spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "X": '
             'supported values: "DoNotSchedule", "ScheduleAnyway"')],
        ),
        (
            pod(securityContext={"runAsUser": -1, "fsGroup": -5}),
            [("spec.securityContext.fsGroup: Invalid value: -5: must be between 0 and 2147483647, "
             "inclusive"),
             ("spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and "
             "2147483647, inclusive")],
        ),
        (
            pod(securityContext={"sysctls": [{"name": "", "value": "1"}]}),
            ["spec.securityContext.sysctls[0].name: Required value"],
        ),
        (
            pod(schedulingGates=[{"name": "A B"}]),
            [f'spec.schedulingGates[0]: Invalid value: "A B": {NAME}'],
        ),
        (
            pod(readinessGates=[{"conditionType": "a b"}]),
            [f'spec.readinessGates[0].conditionType: Invalid value: "a b": {NAME}'],
        ),
        (
            pod(os={"name": "mac"}),
            ['spec.os: Unsupported value: "mac": supported values: "linux", "windows"'],
        ),
        (
            pod(hostUsers=False, hostNetwork=True),
            ["spec.hostNetwork: Forbidden: when `hostUsers` is false"],
        ),
        (
            pod(shareProcessNamespace=True, hostPID=True),
            [("spec.securityContext.shareProcessNamespace: Invalid value: true: "
             "ShareProcessNamespace and HostPID cannot both be enabled")],
        ),
    ],
)  # fmt: skip
def test_a_pod_is_told_what_is_wrong_with_it(document: Document, expected: list[str]) -> None:
    assert told(POD, document) == expected


@pytest.mark.parametrize(
    "document",
    [
        pod(imagePullSecrets=[{"name": ""}]),
        container(env=[{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]),
        container(env=[{"name": "a", "valueFrom": {
            "fieldRef": {"fieldPath": "metadata.labels['x']"}}}]),
        container(lifecycle={"preStop": {"sleep": {"seconds": 5}}}),
        pod(initContainers=[{"name": "i", "image": "x", "restartPolicy": "Always",
                             "readinessProbe": {"tcpSocket": {"port": 80}}}]),
        pod(serviceAccountName="a", volumes=[{"name": "v", "projected": {
            "sources": [{"serviceAccountToken": {"path": "token"}}]}}]),
        pod(dnsConfig={"searches": ["_a.example.com."]}),
    ],
)  # fmt: skip
def test_a_pod_that_is_good_is_told_nothing(document: Document) -> None:
    assert told(POD, document) == []


def workload(**spec: Any) -> Document:  # Any: JSON
    template = {"metadata": {"labels": {"a": "b"}}, **pod()}
    return {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec}}


def test_strategies_are_shown_as_the_server_has_them() -> None:
    assert told(DEPLOYMENT, workload(strategy={"type": "X"})) == [
        (
            'spec.strategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported '
            'values: "Recreate", "RollingUpdate"'
        )
    ]
    assert told(STATEFUL_SET, workload(updateStrategy={"type": "Y"})) == [
        (
            'spec.updateStrategy: Invalid value: {"Type":"Y","RollingUpdate":null}: must be '
            "'RollingUpdate' or 'OnDelete'"
        )
    ]


def test_the_parts_of_a_stateful_set_are_looked_at() -> None:
    wrong = workload(
        serviceName="A_", updateStrategy={"rollingUpdate": {"partition": -1}},
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "X"}, ordinals={"start": -1},
    )  # fmt: skip

    assert set(told(STATEFUL_SET, wrong)) == {
        f'spec.serviceName: Invalid value: "A_": {LABEL}',
        (
            "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than "
            "or equal to 0"
        ),
        (
            'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "X": '
            'supported values: "Retain", "Delete"'
        ),
        "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0",
    }
