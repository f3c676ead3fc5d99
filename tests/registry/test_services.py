"""Services: addresses and ports are unique, stay while they can, and go with the type."""

from __future__ import annotations

import asyncio
import ipaddress
from typing import Any

import pytest

from listwatch.registry.allocation import SERVICES, ServiceAllocator
from tests.registry.house import House, refused


def service(name: str = "s", **spec: Any) -> dict[str, Any]:
    spec.setdefault("ports", [{"port": 80}])
    return {"metadata": {"name": name}, "spec": spec}


async def test_a_service_gets_an_address_of_the_range(house: House) -> None:
    spec = (await house.create("services", service()))["spec"]

    assert ipaddress.IPv4Address(spec["clusterIP"]) in ipaddress.IPv4Network("10.96.0.0/12")
    assert spec["clusterIPs"] == [spec["clusterIP"]]
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")
    assert spec["ports"] == [{"protocol": "TCP", "port": 80, "targetPort": 80}]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"externalIPs": ["192.0.2.1"]}, ["spec.externalIPs is deprecated and may no longer be"]),
        (
            {"clusterIP": "None", "externalIPs": ["192.0.2.1"], "sessionAffinity": "ClientIP"},
            ["spec.externalIPs is ignored for headless", "spec.SessionAffinity is ignored for"],
        ),
        ({"trafficDistribution": "PreferClose"}, ['spec.trafficDistribution: "PreferClose" is']),
        ({}, []),
    ],
)
async def test_what_has_no_effect_is_warned_of(
    house: House, spec: dict[str, Any], told: list[str]
) -> None:
    ctx = house.ctx("services")
    await house.registry.create(ctx, service(**spec))

    assert len(ctx.warnings) == len(told)
    assert all(one.startswith(start) for one, start in zip(ctx.warnings, told, strict=True))


async def test_a_headless_service_without_selector_takes_any_family(house: House) -> None:
    spec = (await house.create("services", service(clusterIP="None")))["spec"]

    assert (spec["clusterIP"], spec["clusterIPs"]) == ("None", ["None"])
    assert spec["ipFamilies"] == ["IPv4", "IPv6"]
    assert spec["ipFamilyPolicy"] == "RequireDualStack"


async def test_a_headless_service_with_a_selector_is_of_the_clusters_family(house: House) -> None:
    body = service(clusterIP="None", selector={"a": "b"})
    spec = (await house.create("services", body))["spec"]

    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")


async def test_a_node_port_service_gets_ports_of_the_range(house: House) -> None:
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    spec = (await house.create("services", service(type="NodePort", ports=ports)))["spec"]

    numbers = [port["nodePort"] for port in spec["ports"]]
    assert all(30_000 <= number <= 32_767 for number in numbers)
    assert len(set(numbers)) == 2


async def test_a_local_load_balancer_gets_a_health_port_too(house: House) -> None:
    body = service(type="LoadBalancer", externalTrafficPolicy="Local")
    spec = (await house.create("services", body))["spec"]

    assert spec["healthCheckNodePort"] != spec["ports"][0]["nodePort"]


async def test_a_load_balancer_may_do_without_node_ports(house: House) -> None:
    body = service(type="LoadBalancer", allocateLoadBalancerNodePorts=False)
    spec = (await house.create("services", body))["spec"]

    assert "nodePort" not in spec["ports"][0]


async def test_an_external_name_has_no_address(house: House) -> None:
    body = service(type="ExternalName", externalName="x.test")
    spec = (await house.create("services", body))["spec"]

    assert not spec.keys() & {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}


async def test_a_wanted_address_is_given_once(house: House) -> None:
    body = service(clusterIP="10.96.1.2")
    spec = (await house.create("services", body))["spec"]
    error = await refused(house.create("services", service("t", clusterIP="10.96.1.2")))

    assert spec["clusterIPs"] == ["10.96.1.2"]
    assert error.message == (
        'Service "t" is invalid: spec.clusterIPs: Invalid value: ["10.96.1.2"]: failed to allocate '
        "IP 10.96.1.2: provided IP is already allocated"
    )


@pytest.mark.parametrize("address", ["10.0.0.1", "192.168.1.1"])
async def test_an_address_outside_the_range_is_refused(house: House, address: str) -> None:
    error = await refused(house.create("services", service(clusterIP=address)))

    assert error.code == 422
    assert "does not match the current range" in error.message


async def test_a_wanted_node_port_is_given_once(house: House) -> None:
    body = service(type="NodePort", ports=[{"port": 80, "nodePort": 30_080}])
    await house.create("services", body)
    body = service("t", type="NodePort", ports=[{"port": 80, "nodePort": 30_080}])
    error = await refused(house.create("services", body))

    assert error.message == (
        'Service "t" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is '
        "already allocated"
    )


async def test_a_node_port_outside_the_range_is_refused(house: House) -> None:
    body = service(type="NodePort", ports=[{"port": 80, "nodePort": 8080}])
    error = await refused(house.create("services", body))

    assert error.message == (
        'Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 8080: provided port is not '
        "in the valid range. The range of valid ports is 30000-32767"
    )


async def test_one_node_port_may_serve_two_protocols_of_a_service(house: House) -> None:
    ports = [
        {"name": "t", "port": 53, "protocol": "TCP", "nodePort": 30_053},
        {"name": "u", "port": 53, "protocol": "UDP", "nodePort": 30_053},
    ]
    spec = (await house.create("services", service(type="NodePort", ports=ports)))["spec"]

    assert [port["nodePort"] for port in spec["ports"]] == [30_053, 30_053]


async def test_what_a_deleted_service_had_can_be_had_again(house: House) -> None:
    await house.create("services", service(clusterIP="10.96.1.2"))
    await house.delete("services", "s")
    spec = (await house.create("services", service("t", clusterIP="10.96.1.2")))["spec"]

    assert spec["clusterIP"] == "10.96.1.2"


async def test_services_made_at_the_same_time_never_share(house: House) -> None:
    # Ports that are drawn from ten numbers, and tried in the same order by everyone.
    drawn = [0]

    def choose(first: int, last: int) -> int:
        drawn[0] += 1
        return first + drawn[0] % 10

    allocator = ServiceAllocator(house.caches, choose)
    house.registry._backend.allocators[SERVICES] = allocator
    made = await asyncio.gather(
        *(house.create("services", service(f"s{n}", type="NodePort")) for n in range(10))
    )

    assert len({one["spec"]["ports"][0]["nodePort"] for one in made}) == 10
    assert len({one["spec"]["clusterIP"] for one in made}) == 10


async def test_an_update_keeps_what_was_allocated_and_left_out(house: House) -> None:
    made = await house.create("services", service(type="NodePort"))
    changed = await house.put("services", service(type="NodePort", selector={"a": "b"}))

    for key in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "ports"):
        assert changed["spec"][key] == made["spec"][key], key


async def test_an_added_port_gets_a_number_and_the_others_keep_theirs(house: House) -> None:
    made = await house.create(
        "services", service(type="NodePort", ports=[{"name": "a", "port": 80}])
    )
    ports = [{"name": "b", "port": 81}, {"name": "a", "port": 80}]
    changed = await house.put("services", service(type="NodePort", ports=ports))

    numbers = {port["name"]: port["nodePort"] for port in changed["spec"]["ports"]}
    assert numbers["a"] == made["spec"]["ports"][0]["nodePort"]
    assert numbers["b"] not in (None, numbers["a"])


async def test_a_change_of_type_releases_and_allocates_again(house: House) -> None:
    await house.create("services", service())
    patch = {
        "type": "ExternalName", "externalName": "x.test", "clusterIP": None, "clusterIPs": None,
    }  # fmt: skip
    external = (await house.patch("services", "s", {"spec": patch}))["spec"]
    patch = {"type": "ClusterIP", "externalName": None}
    back = (await house.patch("services", "s", {"spec": patch}))["spec"]

    assert external == {
        "ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}],
        "type": "ExternalName", "sessionAffinity": "None", "externalName": "x.test",
    }  # fmt: skip
    assert back["clusterIPs"] == [back["clusterIP"]]
    assert back["internalTrafficPolicy"] == "Cluster"


async def test_node_ports_go_with_the_type(house: House) -> None:
    await house.create("services", service(type="NodePort"))
    changed = (await house.patch("services", "s", {"spec": {"type": "ClusterIP"}}))["spec"]

    assert "nodePort" not in changed["ports"][0]
    assert "externalTrafficPolicy" not in changed


async def test_a_second_family_is_refused(house: House) -> None:
    policy = await refused(house.create("services", service(ipFamilyPolicy="RequireDualStack")))
    family = await refused(house.create("services", service(ipFamilies=["IPv6"])))

    assert policy.causes[0].field == "spec.ipFamilyPolicy"
    assert family.message == (
        'Service "s" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this '
        "cluster"
    )


async def test_a_dry_run_takes_nothing(house: House) -> None:
    body = service(clusterIP="10.96.1.2")
    await house.create("services", body, dry_run=True)

    assert (await house.create("services", body))["spec"]["clusterIP"] == "10.96.1.2"


async def test_an_address_does_not_change_once_it_is_set(house: House) -> None:
    await house.create("services", service(clusterIP="10.96.1.2"))
    error = await refused(house.put("services", service(clusterIP="10.96.1.3")))

    assert error.message == (
        'Service "s" is invalid: spec.clusterIPs[0]: Invalid value: ["10.96.1.3"]: may not change '
        "once set"
    )


async def test_an_address_that_is_patched_alone_may_not_change_either(house: House) -> None:
    await house.create("services", service(clusterIP="10.96.0.7"))
    error = await refused(house.patch("services", "s", {"spec": {"clusterIP": "10.96.0.8"}}))

    assert (error.code, error.causes[0].field) == (422, "spec.clusterIPs[0]")
    assert error.causes[0].message == 'Invalid value: ["10.96.0.8"]: may not change once set'
