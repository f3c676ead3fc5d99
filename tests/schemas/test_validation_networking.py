from __future__ import annotations

from listwatch.protocol.kinds import GroupVersionKind
from tests.schemas.validated import (
    SERVICE,
    SLICE,
    told,
)


def test_a_service_needs_ports_unless_it_has_no_address() -> None:
    assert told(SERVICE, {"spec": {}}) == ["spec.ports: Required value"]
    assert told(SERVICE, {"spec": {"clusterIP": "None"}}) == []
    assert told(SERVICE, {"spec": {"type": "ExternalName"}}) == [
        "spec.externalName: Required value"
    ]


def test_several_ports_have_names() -> None:
    ports = [{"port": 80}, {"port": 99999, "name": "b"}, {"port": 81, "name": "b"}]

    assert told(SERVICE, {"spec": {"ports": ports}}) == [
        "spec.ports[0].name: Required value",
        "spec.ports[1].port: Invalid value: 99999: must be between 1 and 65535, inclusive",
        ("spec.ports[1].targetPort: Invalid value: 99999: must be between 1 and 65535, inclusive"),
        'spec.ports[2].name: Duplicate value: "b"',
    ]


def test_unknown_words() -> None:
    port = {"port": 80, "protocol": "IP"}
    spec = {"ports": [port], "type": "Own", "sessionAffinity": "Maybe"}

    assert told(SERVICE, {"spec": spec}) == [
        ('spec.ports[0].protocol: Unsupported value: "IP": supported values: "SCTP", "TCP", "UDP"'),
        ('spec.sessionAffinity: Unsupported value: "Maybe": supported values: "ClientIP", "None"'),
        (
            'spec.type: Unsupported value: "Own": supported values: "ClusterIP", '
            '"ExternalName", "LoadBalancer", "NodePort"'
        ),
    ]


def test_endpoints_have_addresses() -> None:
    gvk = GroupVersionKind("", "v1", "Endpoints")
    subset = {"addresses": [{"ip": "x"}], "ports": [{"port": 99999}]}

    assert told(gvk, {"subsets": [subset]}) == [
        (
            'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, '
            "(e.g. 10.9.8.7 or 2001:db8::ffff)"
        ),
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
        ("subsets[0].ports[0].port: Invalid value: 99999: must be between 1 and 65535, inclusive"),
    ]
    assert told(gvk, {"subsets": [{"addresses": [{"ip": "127.0.0.1"}]}]}) == [
        (
            'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the '
            "loopback range (127.0.0.0/8, ::1/128)"
        )
    ]
    assert told(gvk, {"subsets": [{"ports": [{"port": 1}]}]}) == [
        "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"
    ]


def test_slices_hold_addresses_of_one_kind() -> None:
    document = {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]}

    assert told(SLICE, document) == []
    assert told(SLICE, {"addressType": "IPv6", "endpoints": [{"addresses": ["10.0.0.1"]}]}) == [
        'endpoints[0].addresses[0]: Invalid value: "10.0.0.1": must be an IPv6 address'
    ]
    assert told(SLICE, {"endpoints": []}) == ["addressType: Required value"]
    assert told(SLICE, {"addressType": "FQDN"}, document) == [
        'addressType: Invalid value: "FQDN": field is immutable'
    ]
