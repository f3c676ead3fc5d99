"""What is wrong with a service, in the words of a real kube-apiserver 1.36.2."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schemas.validated import SERVICE, Document, told

ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def service(**spec: Any) -> Document:  # Any: JSON
    return {"spec": {"ports": [{"port": 80}], **spec}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"clusterIP": "x"}, [f'spec.clusterIPs[0]: Invalid value: "x": {ADDRESS}']),
        ({"ports": [{"port": 80, "nodePort": 30001}]},
         ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"]),
        ({"sessionAffinity": "ClientIP",
          "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}},
         [("spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater "
          "than 0 and less than 86400")]),
        ({"externalIPs": ["x"]}, [f'spec.externalIPs[0]: Invalid value: "x": {ADDRESS}']),
        ({"externalTrafficPolicy": "Local"},
         [('spec.externalTrafficPolicy: Invalid value: "Local": may only be set for '
          "externally-accessible services")]),
        ({"internalTrafficPolicy": "X"},
         [('spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", '
          '"Local"')]),
        ({"ipFamilies": ["X"]},
         ['spec.ipFamilies[0]: Unsupported value: "X": supported values: "IPv4", "IPv6"']),
        ({"ipFamilyPolicy": "X"},
         [('spec.ipFamilyPolicy: Unsupported value: "X": supported values: "PreferDualStack", '
          '"RequireDualStack", "SingleStack"')]),
        ({"loadBalancerSourceRanges": ["1.2.3.4/8"]},
         [("spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is "
          "'LoadBalancer'"),
          ('spec.LoadBalancerSourceRanges[0]: Invalid value: "1.2.3.4/8": must not have bits set '
          "beyond the prefix length")]),
        ({"type": "LoadBalancer", "healthCheckNodePort": 30000},
         [("spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is "
          "'LoadBalancer' and `externalTrafficPolicy` is 'Local'")]),
        ({"trafficDistribution": "X"},
         [('spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose", '
          '"PreferSameZone", "PreferSameNode"')]),
        ({"loadBalancerClass": "a.test/b"},
         ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"]),
        ({"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": 30001},
                                        {"name": "b", "port": 81, "nodePort": 30001}]},
         ["spec.ports[1].nodePort: Duplicate value: 30001"]),
    ],
)  # fmt: skip
def test_a_service_is_told_what_is_wrong_with_it(spec: Document, expected: list[str]) -> None:
    assert told(SERVICE, service(**spec)) == expected


@pytest.mark.parametrize(
    "spec",
    [
        {"externalIPs": ["192.0.2.1"]},
        {"clusterIP": "None"},
        {"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8"],
         "loadBalancerClass": "a.test/b"},
        {"type": "NodePort", "externalTrafficPolicy": "Local", "ports": [
            {"name": "a", "port": 80, "nodePort": 30001},
            {"name": "b", "port": 80, "nodePort": 30001, "protocol": "UDP"}]},
    ],
)  # fmt: skip
def test_a_service_that_is_good_is_told_nothing(spec: Document) -> None:
    assert told(SERVICE, service(**spec)) == []
