"""Instances in an Endpoints object."""

from __future__ import annotations

from typing import Any

from listwatch.servicediscovery import Instance, Service, instances_of
from listwatch.servicediscovery.instances import METADATA, with_instance, without_address

SHOP = Service("default", "shop")
EMPTY: dict[str, Any] = {"metadata": {"name": "shop", "namespace": "default"}}


def addresses(endpoints: dict[str, Any] | None) -> list[str]:
    return [each.address for each in instances_of(SHOP, endpoints)]


def test_a_service_that_has_gone_has_no_instances() -> None:
    assert instances_of(SHOP, None) == ()
    assert instances_of(SHOP, EMPTY) == ()


def test_ports_belong_to_the_addresses_of_their_own_subset() -> None:
    endpoints = {
        **EMPTY,
        "subsets": [
            {"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]},
            {"addresses": [{"ip": "192.0.2.2"}], "ports": [{"port": 81}, {"port": 82}]},
        ],
    }

    assert addresses(endpoints) == ["192.0.2.1:80", "192.0.2.2:81", "192.0.2.2:82"]


def test_whoever_is_not_ready_takes_no_requests() -> None:
    endpoints = {
        **EMPTY,
        "subsets": [{"notReadyAddresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}],
    }

    assert addresses(endpoints) == []


def test_what_is_missing_null_or_broken_hurts_nobody() -> None:
    nothing: list[Any] = [None, [], [{}], [{"addresses": None, "ports": None}]]
    for nobody in nothing:
        assert addresses({**EMPTY, "subsets": nobody}) == []
    subsets: list[dict[str, Any]] = [
        {"addresses": [{"ip": "192.0.2.1"}, {}], "ports": [{"port": 80}]}
    ]
    for text in ("not JSON", "[]", '{"192.0.2.1:80": 3}', ""):
        metadata = {**EMPTY["metadata"], "annotations": {METADATA: text}}
        (instance,) = instances_of(SHOP, {"metadata": metadata, "subsets": subsets})
        assert instance.metadata == {}


def test_an_instance_is_put_in_and_taken_out_with_its_metadata() -> None:
    one = Instance(SHOP, "192.0.2.1", 20880, "dubbo", {"revision": "7"})
    two = Instance(SHOP, "2001:db8::2", 20880, "dubbo")

    both = with_instance(with_instance(EMPTY, one), two)
    assert instances_of(SHOP, both) == (one, two)
    assert two.address == "[2001:db8::2]:20880"
    assert len(both["subsets"]) == 1

    newer = Instance(SHOP, "192.0.2.1", 20880, "dubbo", {"revision": "8"})
    assert instances_of(SHOP, with_instance(both, newer)) == (newer, two)
    assert instances_of(SHOP, without_address(both, one)) == (two,)
    gone = without_address(without_address(both, one), two)
    assert gone["subsets"] == []
    assert METADATA not in gone["metadata"]["annotations"]
    assert EMPTY == {"metadata": {"name": "shop", "namespace": "default"}}


def test_what_others_wrote_stays() -> None:
    foreign = {
        "addresses": [{"ip": "192.0.2.1", "nodeName": "n"}],
        "ports": [{"port": 1}, {"port": 2}],
    }
    endpoints = {**EMPTY, "subsets": [foreign]}

    changed = with_instance(endpoints, Instance(SHOP, "192.0.2.1", 1))

    assert foreign in changed["subsets"]
    assert foreign in without_address(changed, Instance(SHOP, "192.0.2.1", 1))["subsets"]
