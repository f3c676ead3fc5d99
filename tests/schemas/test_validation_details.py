"""Parts of objects that are looked into, each fault in the words of the original."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from tests.schemas.validated import LABEL, POD, SERVICE, STATEFUL_SET, Document, pod, told

VOLUME = GroupVersionKind("", "v1", "PersistentVolume")
QUALIFIED = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


def container(**fields: Any) -> Document:  # Any: JSON
    return pod(containers=[{"name": "main", "image": "i:1", **fields}])


def volume(**source: Any) -> Document:
    return pod(volumes=[{"name": "v", **source}])


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (
            container(
                env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "?"}}}]
            ),
            'containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value: "?": a valid config ',
        ),
        (
            container(
                env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "?", "key": "k"}}}]
            ),
            'containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "?": a lowercase',
        ),
        (
            container(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "cpu"}}}]),
            (
                "containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "
                '"cpu": supported values: "limits.cpu", "limits.ephemeral-storage"'
            ),
        ),
        (
            container(
                livenessProbe={
                    "httpGet": {
                        "path": "/",
                        "port": 80,
                        "httpHeaders": [{"name": "a b", "value": ""}],
                    }
                }
            ),
            'containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP',
        ),
        (
            container(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2),
            'containers[0].resizePolicy[1]: Duplicate value: "cpu"',
        ),
        (
            container(securityContext={"seccompProfile": {"type": "Some"}}),
            'containers[0].securityContext.seccompProfile.type: Unsupported value: "Some"',
        ),
        (
            container(securityContext={"procMount": "Some"}),
            (
                'containers[0].securityContext.procMount: Unsupported value: "Some": supported '
                'values: "Default", "Unmasked"'
            ),
        ),
        (
            pod(securityContext={"appArmorProfile": {}}),
            (
                "securityContext.appArmorProfile.type: Required value: type is required when "
                "appArmorProfile is set"
            ),
        ),
        (
            pod(securityContext={"seccompProfile": {"type": "Localhost"}}),
            (
                "securityContext.seccompProfile.localhostProfile: Required value: must be set when "
                "seccomp type is Localhost"
            ),
        ),
        (
            pod(
                topologySpreadConstraints=[
                    {
                        "maxSkew": 1,
                        "topologyKey": "t",
                        "matchLabelKeys": ["a"],
                        "whenUnsatisfiable": "DoNotSchedule",
                    }
                ]
            ),
            (
                "topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified "
                "when labelSelector is not set"
            ),
        ),
        (
            pod(resourceClaims=[{"name": "a"}]),
            'resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,"Resource',
        ),
        (
            pod(resourceClaims=[{"name": "a", "resourceClaimName": "b"}] * 2),
            'resourceClaims[1].name: Duplicate value: "a"',
        ),
        (
            pod(
                hostNetwork=True,
                containers=[
                    {
                        "name": "main",
                        "image": "i",
                        "ports": [{"containerPort": 1, "hostPort": 2}],
                    }
                ],
            ),
            "containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when",
        ),
        (volume(fc={}), "volumes[0].fc.targetWWNs: Required value: must specify either targetWWNs"),
        (
            volume(fc={"targetWWNs": ["a"], "lun": 256}),
            "volumes[0].fc.lun: Invalid value: 256: must",
        ),
        (volume(image={}), "volumes[0].image.reference: Required value"),
        (
            volume(iscsi={"targetPortal": "a", "iqn": "b", "lun": 0}),
            'volumes[0].iscsi.iqn: Invalid value: "b": must be valid format starting with iqn, eu',
        ),
        (volume(ephemeral={}), "volumes[0].ephemeral.volumeClaimTemplate: Required value"),
        (
            volume(ephemeral={"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}),
            "volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
        ),
        (
            volume(downwardAPI={"items": [{"path": "a"}]}),
            "volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is requ",
        ),
        (
            volume(
                downwardAPI={"items": [{"path": "a", "fieldRef": {"fieldPath": "spec.nodeName"}}]}
            ),
            'volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName"',
        ),
        (
            volume(projected={"defaultMode": 512, "sources": []}),
            "volumes[0].projected.defaultMode: Invalid value: 512: must be a number between 0 and",
        ),
    ],
)
def test_parts_of_pods(document: Document, fault: str) -> None:
    assert told(POD, document)[0].startswith(f"spec.{fault}")


def test_parts_of_pods_without_fault() -> None:
    whole = {"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}}
    one = {"path": "b", "resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}}
    local = {"seccompProfile": {"type": "Localhost", "localhostProfile": "a"}}

    assert told(POD, volume(downwardAPI={"items": [whole, one]})) == []
    assert told(POD, volume(fc={"targetWWNs": ["a"], "lun": 1})) == []
    assert told(POD, pod(securityContext=local)) == []


def test_claims_of_a_stateful_set_are_claims() -> None:
    template = {"metadata": {"labels": {"app": "x"}}, **pod()}
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["Once"]}}
    spec = {
        "selector": {"matchLabels": {"app": "x"}}, "template": template,
        "volumeClaimTemplates": [claim],
    }  # fmt: skip
    field = "spec.volumeClaimTemplates[0].spec"

    assert [fault.partition(": ")[0] for fault in told(STATEFUL_SET, {"spec": spec})] == [
        f"{field}.accessModes", f"{field}.resources[storage]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("affinity", "fault"),
    [
        ({}, "required: Required value: must specify required node constraints"),
        (
            {"required": {"nodeSelectorTerms": []}},
            "required.nodeSelectorTerms: Required value: must have at least one node selector term",
        ),
        (
            {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a"}]}]}},
            "required.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: ",
        ),
    ],
)
def test_a_volume_says_which_nodes_reach_it(affinity: Document, fault: str) -> None:
    spec = {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/a"}, "nodeAffinity": affinity,
    }  # fmt: skip

    assert told(VOLUME, {"spec": spec})[0].startswith(f"spec.nodeAffinity.{fault}")


def test_parts_of_services() -> None:
    port = {"port": 80, "appProtocol": "?"}
    health = {
        "type": "LoadBalancer",
        "externalTrafficPolicy": "Local",
        "healthCheckNodePort": 70000,
    }

    assert told(SERVICE, {"spec": {"ports": [port]}}) == [
        f'spec.ports[0].appProtocol: Invalid value: "?": {QUALIFIED}'
    ]
    assert told(SERVICE, {"spec": {"ports": [{"port": 80}], **health}}) == [
        "spec.healthCheckNodePort: Invalid value: 70000: must be between 1 and 65535, inclusive"
    ]


@pytest.mark.parametrize(("group", "kind"), [("", "Event"), ("policy", "PodDisruptionBudget")])
def test_some_names_only_have_to_fit_into_a_path(group: str, kind: str) -> None:
    gvk = GroupVersionKind(group, "v1", kind)
    named = {"metadata": {"namespace": "n"}, "involvedObject": {"namespace": "n"}, "spec": {}}

    def faults(name: str) -> list[str]:
        document = {**named, "metadata": {"name": name, "namespace": "n"}}
        return [fault for fault in told(gvk, document) if fault.startswith("metadata.name")]

    assert faults("A b") == []
    assert faults("a/b") == ["metadata.name: Invalid value: \"a/b\": may not contain '/'"]


def test_the_selectors_of_an_aggregation_are_looked_into() -> None:
    gvk = GroupVersionKind("rbac.authorization.k8s.io", "v1", "ClusterRole")
    rule = {"clusterRoleSelectors": [{"matchLabels": {"?": "a"}}]}

    assert told(gvk, {"aggregationRule": rule}) == [
        f'aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: "?": {QUALIFIED}',
        "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.",
    ]


def test_endpoints_name_nodes() -> None:
    gvk = GroupVersionKind("", "v1", "Endpoints")
    subset = {"addresses": [{"ip": "1.2.3.4", "nodeName": "?"}], "ports": [{"port": 1}]}

    [fault] = told(gvk, {"subsets": [subset]})
    assert fault.startswith('subsets[0].addresses[0].nodeName: Invalid value: "?"')
    assert LABEL not in fault


def test_what_a_runtime_class_says_of_nodes_is_looked_into() -> None:
    gvk = GroupVersionKind("node.k8s.io", "v1", "RuntimeClass")
    scheduling = {"nodeSelector": {"?": "a"}, "tolerations": [{"operator": "Some", "key": "a"}]}

    assert told(gvk, {"handler": "a", "scheduling": scheduling}) == [
        f'scheduling.nodeSelector: Invalid value: "?": {QUALIFIED}',
        (
            'scheduling.tolerations[0].operator: Unsupported value: "Some": supported values: '
            '"Equal", "Exists"'
        ),
    ]


@pytest.mark.parametrize(
    ("endpoint", "fault"),
    [
        ({"nodeName": "?"}, 'endpoints[0].nodeName: Invalid value: "?": a lowercase RFC 1123 subd'),
        (
            {"hostname": "A"},
            'endpoints[0].hostname: Invalid value: "A": a lowercase RFC 1123 label',
        ),
        (
            {"hints": {"forZones": [{"name": "z"}, {"name": "z"}]}},
            'endpoints[0].hints.forZones[1].name: Duplicate value: "z"',
        ),
    ],
)
def test_parts_of_endpoint_slices(endpoint: Document, fault: str) -> None:
    gvk = GroupVersionKind("discovery.k8s.io", "v1", "EndpointSlice")
    slices = {"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"], **endpoint}]}

    assert told(gvk, {**slices, "ports": [{"port": -1}]})[0].startswith(fault)
