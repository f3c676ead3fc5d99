"""The same as `builtin_defaults`, for the kinds outside the core and apps groups, and for limits.

Upstream: pkg/apis/*/v1/defaults.go. Read by `defaults` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from listwatch.protocol.objects import JSONObject

_BATCH = "io.k8s.api.batch.v1."
_SCALING = "io.k8s.api.autoscaling."
_NETWORKING = "io.k8s.api.networking.v1."
_RBAC = "io.k8s.api.rbac.v1."
_STORAGE = "io.k8s.api.storage.v1."
_ADMISSION = "io.k8s.api.admissionregistration.v1."
_FLOW = "io.k8s.api.flowcontrol.v1."
_RESOURCE = "io.k8s.api.resource.v1."
_RBAC_GROUP = "rbac.authorization.k8s.io"
_WEBHOOK = {"failurePolicy": "Fail", "matchPolicy": "Equivalent", "timeoutSeconds": 10}
_REQUEST = {"allocationMode": "ExactCount"}
_MANY = (1 << 31) - 1

CONSTANTS: Mapping[str, Mapping[str, Any]] = {  # Any: JSON values
    f"{_BATCH}CronJobSpec": {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    },
    f"{_BATCH}PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
    f"{_SCALING}v1.HorizontalPodAutoscalerSpec": {"minReplicas": 1},
    f"{_SCALING}v2.HorizontalPodAutoscalerSpec": {"minReplicas": 1},
    f"{_NETWORKING}NetworkPolicyPort": {"protocol": "TCP"},
    f"{_NETWORKING}IngressClassParametersReference": {"scope": "Cluster"},
    f"{_STORAGE}StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
    f"{_STORAGE}CSIDriverSpec": {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "requiresRepublish": False,
        "seLinuxMount": False,
    },
    "io.k8s.api.scheduling.v1.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    f"{_ADMISSION}ValidatingWebhook": _WEBHOOK,
    f"{_ADMISSION}MutatingWebhook": {**_WEBHOOK, "reinvocationPolicy": "Never"},
    f"{_ADMISSION}RuleWithOperations": {"scope": "*"},
    f"{_ADMISSION}NamedRuleWithOperations": {"scope": "*"},
    f"{_ADMISSION}ServiceReference": {"port": 443},
    f"{_ADMISSION}ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    f"{_ADMISSION}MutatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    f"{_ADMISSION}MatchResources": {"matchPolicy": "Equivalent"},
    f"{_FLOW}ExemptPriorityLevelConfiguration": {
        "nominalConcurrencyShares": 0,
        "lendablePercent": 0,
    },
    f"{_FLOW}LimitedPriorityLevelConfiguration": {
        "nominalConcurrencyShares": 30,
        "lendablePercent": 0,
    },
    f"{_RESOURCE}ExactDeviceRequest": _REQUEST,
    f"{_RESOURCE}DeviceSubRequest": _REQUEST,
    f"{_RESOURCE}DeviceToleration": {"operator": "Equal"},
}


def _job(job: JSONObject) -> None:
    metadata = job.setdefault("metadata", {})
    labels = ((job["spec"].get("template") or {}).get("metadata") or {}).get("labels")
    if labels and not metadata.get("labels"):
        metadata["labels"] = dict(labels)
    spec = job["spec"]
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", _MANY if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    replaced = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    spec.setdefault("podReplacementPolicy", replaced)


def _autoscaler_spec(spec: JSONObject) -> None:
    if not spec.get("metrics"):
        cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
        spec["metrics"] = [{"type": "Resource", "resource": cpu}]
    behavior = spec.get("behavior")
    if behavior is not None:
        up, down = behavior.setdefault("scaleUp", {}), behavior.setdefault("scaleDown", {})
        up.setdefault("stabilizationWindowSeconds", 0)
        for rules in (up, down):
            rules.setdefault("selectPolicy", "Max")
        if not up.get("policies"):
            up["policies"] = [_step("Pods", 4), _step("Percent", 100)]
        if not down.get("policies"):
            down["policies"] = [_step("Percent", 100)]


def _step(kind: str, value: int) -> JSONObject:
    return {"type": kind, "value": value, "periodSeconds": 15}


def _network_policy_spec(spec: JSONObject) -> None:
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _role_reference(reference: JSONObject) -> None:
    if not reference.get("apiGroup"):
        reference["apiGroup"] = _RBAC_GROUP


def _subject(subject: JSONObject) -> None:
    if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
        subject["apiGroup"] = _RBAC_GROUP


def _csi_driver_spec(spec: JSONObject) -> None:
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def _selectors(of: JSONObject) -> None:
    for name in ("namespaceSelector", "objectSelector"):
        if name not in of:
            of[name] = {}


def _flow_schema_spec(spec: JSONObject) -> None:
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = 1000


def _queuing(queuing: JSONObject) -> None:
    for name, value in (("queues", 64), ("handSize", 8), ("queueLengthLimit", 50)):
        if not queuing.get(name):
            queuing[name] = value


def _priority_level_spec(spec: JSONObject) -> None:
    if spec.get("type") == "Exempt" and "exempt" not in spec:
        spec["exempt"] = {}


def _device_count(request: JSONObject) -> None:
    if request.get("allocationMode") == "ExactCount" and not request.get("count"):
        request["count"] = 1


def _limit_range_item(item: JSONObject) -> None:
    # A container without limits gets the largest that is allowed; without requests, its limits.
    if item.get("type") != "Container":
        return
    default = {**item.get("max", {}), **item.get("default", {})}
    request = {**item.get("min", {}), **default, **item.get("defaultRequest", {})}
    for name, value in (("default", default), ("defaultRequest", request)):
        if value:
            item[name] = value


RULES: Mapping[str, Callable[[JSONObject], None]] = {
    f"{_BATCH}Job": _job,
    f"{_SCALING}v2.HorizontalPodAutoscalerSpec": _autoscaler_spec,
    f"{_NETWORKING}NetworkPolicySpec": _network_policy_spec,
    f"{_RBAC}RoleRef": _role_reference,
    f"{_RBAC}Subject": _subject,
    f"{_STORAGE}CSIDriverSpec": _csi_driver_spec,
    f"{_ADMISSION}ValidatingWebhook": _selectors,
    f"{_ADMISSION}MutatingWebhook": _selectors,
    f"{_ADMISSION}MatchResources": _selectors,
    f"{_FLOW}FlowSchemaSpec": _flow_schema_spec,
    f"{_FLOW}QueuingConfiguration": _queuing,
    f"{_FLOW}PriorityLevelConfigurationSpec": _priority_level_spec,
    f"{_RESOURCE}ExactDeviceRequest": _device_count,
    f"{_RESOURCE}DeviceSubRequest": _device_count,
    "io.k8s.api.core.v1.LimitRangeItem": _limit_range_item,
}
