from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.decoding import decode
from listwatch.schemas.defaults import apply_defaults

Document = dict[str, Any]  # Any: JSON

POD = GroupVersionKind("", "v1", "Pod")


def defaulted(gvk: GroupVersionKind, document: Document) -> Document:
    decode(gvk, document)
    apply_defaults(gvk, document)
    return document


def core(kind: str, document: Document) -> Document:
    return defaulted(GroupVersionKind("", "v1", kind), document)


def apps(kind: str, spec: Document) -> Document:
    labels = {"app": "x"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "img.test/app:1"}]},
    }
    whole = {"selector": {"matchLabels": labels}, "template": template, **spec}
    document: Document = {"metadata": {"name": "x"}, "spec": whole}
    return defaulted(GroupVersionKind("apps", "v1", kind), document)


CONTAINER = {
    "name": "main",
    "image": "img.test/app:1",
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent",
}
POD_SPEC = {
    "containers": [CONTAINER],
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": POD_SPEC}
SELECTOR = {"matchLabels": {"app": "x"}}


def pod(**spec: Any) -> Document:  # Any: JSON
    containers = [{"name": "main", "image": "img.test/app:1"}]
    return core("Pod", {"metadata": {"name": "p"}, "spec": {"containers": containers, **spec}})


def test_a_minimal_pod() -> None:
    assert pod() == {
        "metadata": {"name": "p"},
        "spec": {**POD_SPEC, "enableServiceLinks": True},
        "status": {},
    }


def test_what_is_said_stays() -> None:
    spec = pod(restartPolicy="Never", enableServiceLinks=False, schedulerName="own")["spec"]

    assert (spec["restartPolicy"], spec["schedulerName"]) == ("Never", "own")
    assert spec["enableServiceLinks"] is False


def test_defaults_applied_twice_are_applied_once() -> None:
    once = pod(volumes=[{"name": "g"}], hostNetwork=True)

    assert defaulted(POD, pod(volumes=[{"name": "g"}], hostNetwork=True)) == once


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("x.test/y", "Always"),
        ("x.test/y:latest", "Always"),
        ("x.test/y:1", "IfNotPresent"),
        ("x.test:5000/y", "Always"),
        ("x.test/y@sha256:" + "0" * 64, "IfNotPresent"),
    ],
)
def test_the_pull_policy_follows_the_tag(image: str, policy: str) -> None:
    container = pod(containers=[{"name": "a", "image": image}])["spec"]["containers"][0]

    assert container["imagePullPolicy"] == policy


def test_volumes() -> None:
    label = {"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}
    volumes = [
        {"name": "b", "configMap": {"name": "x"}},
        {"name": "d", "hostPath": {"path": "/x"}},
        {"name": "e", "downwardAPI": {"items": [label]}},
        {"name": "f", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        {"name": "g"},
    ]

    assert pod(volumes=volumes)["spec"]["volumes"] == [
        {"name": "b", "configMap": {"name": "x", "defaultMode": 420}},
        {"name": "d", "hostPath": {"path": "/x", "type": ""}},
        {
            "name": "e",
            "downwardAPI": {
                "items": [
                    {
                        "path": "l",
                        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels"},
                    }
                ],
                "defaultMode": 420,
            },
        },
        {
            "name": "f",
            "projected": {
                "sources": [{"serviceAccountToken": {"expirationSeconds": 3600, "path": "t"}}],
                "defaultMode": 420,
            },
        },
        {"name": "g", "emptyDir": {}},
    ]


def test_ports_of_a_pod_on_the_hosts_network_are_the_hosts() -> None:
    containers = [{"name": "main", "image": "i:1", "ports": [{"containerPort": 80}]}]
    spec = pod(containers=containers, hostNetwork=True)["spec"]

    assert spec["containers"][0]["ports"] == [
        {"hostPort": 80, "containerPort": 80, "protocol": "TCP"}
    ]


def test_the_service_account_stands_under_both_names() -> None:
    for name in ("serviceAccount", "serviceAccountName"):
        spec = pod(**{name: "sa"})["spec"]

        assert (spec["serviceAccount"], spec["serviceAccountName"]) == ("sa", "sa")


def test_limits_are_requests_of_who_requests_nothing_else() -> None:
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    spec = pod(containers=[{"name": "a", "image": "i", "resources": resources}])["spec"]

    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}


def test_probes() -> None:
    probe = {"httpGet": {"port": 80}}
    spec = pod(containers=[{"name": "a", "image": "i", "livenessProbe": probe}])["spec"]

    assert spec["containers"][0]["livenessProbe"] == {
        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def test_a_condition_without_times_has_null_for_them() -> None:
    document = core("Pod", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})

    assert document["status"]["conditions"] == [
        {"type": "Ready", "status": "True", "lastProbeTime": None, "lastTransitionTime": None}
    ]


def test_a_minimal_deployment() -> None:
    assert apps("Deployment", {}) == {
        "metadata": {"name": "x"},
        "spec": {
            "replicas": 1,
            "selector": SELECTOR,
            "template": TEMPLATE,
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
            },
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
        },
        "status": {},
    }


def test_a_deployment_that_recreates_has_no_parameters_of_rolling() -> None:
    spec = apps("Deployment", {"strategy": {"type": "Recreate"}, "replicas": 0})["spec"]

    assert spec["strategy"] == {"type": "Recreate"}
    assert spec["replicas"] == 0


def test_a_minimal_stateful_set() -> None:
    claim = {
        "metadata": {"name": "v"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    document = apps("StatefulSet", {"serviceName": "s", "volumeClaimTemplates": [claim]})

    assert document["spec"] == {
        "replicas": 1,
        "selector": SELECTOR,
        "template": TEMPLATE,
        "volumeClaimTemplates": [
            {
                "kind": "PersistentVolumeClaim",
                "apiVersion": "v1",
                "metadata": {"name": "v"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                    "volumeMode": "Filesystem",
                },
                "status": {"phase": "Pending"},
            }
        ],
        "serviceName": "s",
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    }
    assert document["status"] == {"replicas": 0, "availableReplicas": 0}


def test_a_minimal_daemon_set() -> None:
    document = apps("DaemonSet", {})

    assert document["spec"] == {
        "selector": SELECTOR,
        "template": TEMPLATE,
        "updateStrategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
        },
        "revisionHistoryLimit": 10,
    }
    assert document["status"] == {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    }


def test_a_replication_controller_selects_what_its_template_makes() -> None:
    document = core("ReplicationController", {"spec": {"template": TEMPLATE}})

    assert document["spec"]["selector"] == {"app": "x"}
    assert document["metadata"]["labels"] == {"app": "x"}
    assert document["spec"]["replicas"] == 1


def test_a_service_with_a_cluster_address() -> None:
    ports = [{"port": 80}, {"port": 81, "targetPort": "web"}]

    assert core("Service", {"spec": {"ports": ports}}) == {
        "metadata": {},
        "spec": {
            "ports": [
                {"protocol": "TCP", "port": 80, "targetPort": 80},
                {"protocol": "TCP", "port": 81, "targetPort": "web"},
            ],
            "type": "ClusterIP",
            "sessionAffinity": "None",
            "internalTrafficPolicy": "Cluster",
        },
        "status": {"loadBalancer": {}},
    }


def test_a_service_by_another_name_has_no_traffic_to_direct() -> None:
    spec = core("Service", {"spec": {"type": "ExternalName", "externalName": "x.test"}})["spec"]

    assert spec == {"type": "ExternalName", "externalName": "x.test", "sessionAffinity": "None"}


def test_a_balancer_has_node_ports_and_affinity_lasts_three_hours() -> None:
    given = {"type": "LoadBalancer", "sessionAffinity": "ClientIP", "ports": [{"port": 80}]}
    spec = core("Service", {"spec": given})["spec"]

    assert spec["allocateLoadBalancerNodePorts"] is True
    assert spec["externalTrafficPolicy"] == "Cluster"
    assert spec["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 10800}}


def test_the_texts_of_a_secret_are_written_into_its_data() -> None:
    given = {"stringData": {"k": "v", "b": "over"}, "data": {"b": "b2xk", "c": "Yw=="}}

    assert core("Secret", given) == {
        "data": {"b": "b3Zlcg==", "c": "Yw==", "k": "dg=="},
        "type": "Opaque",
        "metadata": {},
    }


def test_empty_maps_of_a_config_map_fall_away() -> None:
    given = {"metadata": {"name": "b", "labels": {}, "annotations": {}}, "data": {}}

    assert core("ConfigMap", given) == {"metadata": {"name": "b"}}


def test_a_node_can_allocate_all_it_has() -> None:
    capacity = {"cpu": "4", "memory": "8Gi", "pods": 110}
    given = {"spec": {"podCIDR": "10.0.0.0/24"}, "status": {"capacity": capacity}}
    document = core("Node", given)

    assert document["spec"]["podCIDRs"] == ["10.0.0.0/24"]
    assert document["status"]["allocatable"] == {"cpu": "4", "memory": "8Gi", "pods": "110"}
    assert document["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert document["status"]["nodeInfo"]["kubeletVersion"] == ""


def test_an_event_without_times_has_null_for_them() -> None:
    document = core("Event", {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod"}})

    assert document == {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod"},
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": None,
        "reportingComponent": "",
        "reportingInstance": "",
    }


def test_a_slice_without_endpoints_has_null_for_them() -> None:
    gvk = GroupVersionKind("discovery.k8s.io", "v1", "EndpointSlice")
    document = defaulted(gvk, {"addressType": "IPv4", "ports": [{"port": 80}]})

    assert document["endpoints"] is None
    assert document["ports"] == [{"name": "", "protocol": "TCP", "port": 80}]


def test_a_namespace_is_active_and_a_lease_has_a_spec() -> None:
    lease = GroupVersionKind("coordination.k8s.io", "v1", "Lease")

    assert core("Namespace", {}) == {"metadata": {}, "spec": {}, "status": {"phase": "Active"}}
    assert defaulted(lease, {}) == {"metadata": {}, "spec": {}}


def test_a_kind_that_is_not_built_in_stays_as_it_is() -> None:
    document = {"spec": {"x": None}}

    assert defaulted(GroupVersionKind("a.test", "v1", "Own"), document) == {"spec": {"x": None}}
