"""Who owns what after ordinary writes: creates, updates, patches, subresources."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.objects import JSONObject
from listwatch.registry.patch import JSON_PATCH, STRATEGIC_PATCH
from tests.registry.house import House, configmap, deployment, pod, refused

MANAGED = "managedFields"


def owned(document: JSONObject) -> dict[tuple[str, ...], Any]:
    """What each manager owns, by name, operation and, where there is one, subresource."""
    found = {}
    for entry in document["metadata"].get(MANAGED, []):
        key = entry["manager"], entry["operation"], entry.get("subresource")
        found[tuple(filter(None, key))] = entry["fieldsV1"]
    return found


async def test_whoever_makes_an_object_owns_what_he_said(house: House) -> None:
    sent = configmap(data={"k": "1"}, metadata={"labels": {"a": "b"}, "finalizers": ["f.test/x"]})
    made = await house.create("configmaps", sent, field_manager="maker")

    assert made["metadata"][MANAGED] == [
        {
            "manager": "maker",
            "operation": "Update",
            "apiVersion": "v1",
            "time": made["metadata"]["creationTimestamp"],
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:data": {".": {}, "f:k": {}},
                "f:metadata": {
                    "f:finalizers": {".": {}, 'v:"f.test/x"': {}},
                    "f:labels": {".": {}, "f:a": {}},
                },
            },
        }
    ]


async def test_an_object_of_which_nothing_was_said_is_nobodys(house: House) -> None:
    made = await house.create("configmaps", configmap(), field_manager="maker")

    assert MANAGED not in made["metadata"]


async def test_defaults_are_the_makers_and_what_the_server_adds_is_not(house: House) -> None:
    made = await house.create("pods", pod(), field_manager="maker")
    fields = owned(made)["maker", "Update"]

    assert set(fields) == {"f:spec"}
    assert "f:dnsPolicy" in fields["f:spec"]
    assert "f:tolerations" not in fields["f:spec"]
    assert fields["f:spec"]["f:containers"]['k:{"name":"main"}']["f:imagePullPolicy"] == {}
    assert "tolerations" in made["spec"]


async def test_a_namespace_has_its_label_from_its_maker(house: House) -> None:
    made = await house.create("namespaces", {"metadata": {"name": "n"}}, field_manager="maker")

    assert owned(made) == {
        ("maker", "Update"): {
            "f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}
        }
    }


async def test_an_update_takes_what_it_changes_and_only_that(house: House) -> None:
    await house.create("configmaps", configmap(data={"k": "1", "l": "1"}), field_manager="one")
    await house.clock.advance(60)
    changed = await house.patch("configmaps", "a", {"data": {"k": "2"}}, field_manager="two")

    assert owned(changed) == {
        ("one", "Update"): {"f:data": {".": {}, "f:l": {}}},
        ("two", "Update"): {"f:data": {"f:k": {}}},
    }
    assert [entry["manager"] for entry in changed["metadata"][MANAGED]] == ["one", "two"]


async def test_what_is_removed_is_nobodys(house: House) -> None:
    await house.create("configmaps", configmap(data={"k": "1"}), field_manager="one")
    changed = await house.patch("configmaps", "a", {"data": None}, field_manager="two")

    assert MANAGED not in changed["metadata"]


async def test_a_write_that_changes_nothing_changes_no_time(house: House) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}), field_manager="one")
    await house.clock.advance(60)

    assert await house.put("configmaps", dict(made), field_manager="two") == made
    assert await house.patch("configmaps", "a", {"data": {"k": "1"}}, field_manager="two") == made


async def test_the_time_is_that_of_the_last_change_of_ones_own(house: House) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}), field_manager="one")
    await house.clock.advance(60)
    changed = await house.patch("configmaps", "a", {"data": {"k": "2"}}, field_manager="one")

    assert owned(changed) == owned(made)
    assert changed["metadata"][MANAGED][0]["time"] > made["metadata"][MANAGED][0]["time"]


async def test_ten_updaters_are_told_apart_and_older_ones_are_not(house: House) -> None:
    await house.create("configmaps", configmap(data={"k0": "1"}), field_manager="m0")
    for number in range(1, 14):
        await house.clock.advance(60)
        patch = {"data": {f"k{number}": "1"}}
        changed = await house.patch("configmaps", "a", patch, field_manager=f"m{number}")
    managers = [entry["manager"] for entry in changed["metadata"][MANAGED]]

    assert managers == ["ancient-changes", *(f"m{number}" for number in range(5, 14))]
    assert owned(changed)["ancient-changes", "Update"] == {
        "f:data": {".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}, "f:k3": {}, "f:k4": {}}
    }


@pytest.mark.parametrize("reset", [[], [{}]])
@pytest.mark.parametrize("way", ["merge", "strategic", "json", "put"])
async def test_tracking_ends_when_the_managers_are_emptied(
    house: House, reset: list[Any], way: str
) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}), field_manager="one")
    if way == "put":
        document = {**made, "metadata": {**made["metadata"], MANAGED: reset}}
        changed = await house.put("configmaps", document)
    elif way == "json":
        operation = {"op": "replace", "path": "/metadata/managedFields", "value": reset}
        changed = await house.patch("configmaps", "a", [operation], JSON_PATCH)
    else:
        patch = {"metadata": {MANAGED: reset}}
        more = [STRATEGIC_PATCH] if way == "strategic" else []
        changed = await house.patch("configmaps", "a", patch, *more)
    later = await house.patch("configmaps", "a", {"data": {"k": "2"}}, field_manager="two")

    assert MANAGED not in changed["metadata"]
    assert changed["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]
    assert MANAGED not in later["metadata"], "what is not tracked stays so"


async def test_leaving_the_managers_out_leaves_them_as_they_are(house: House) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}), field_manager="one")
    changed = await house.put(
        "configmaps", configmap(data={"k": "1"}, metadata={"labels": {"a": "b"}}), field_manager="x"
    )

    assert owned(changed) == {
        **owned(made), ("x", "Update"): {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}},
    }  # fmt: skip


@pytest.mark.parametrize(
    "entry",
    [
        {"manager": "x", "operation": "Jump"},
        {"manager": "x", "operation": "Update", "fieldsType": "FieldsV1"},
        {"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV9"},
        {"manager": "x", "operation": "Update", "apiVersion": "v1"},
        {
            "manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"nonsense": {}},
        },
        {
            "manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": 5},
        },
    ],
)  # fmt: skip
async def test_entries_that_cannot_be_understood_are_passed_over(
    house: House, entry: JSONObject
) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}), field_manager="one")
    patch = {"metadata": {MANAGED: [entry]}}

    assert await house.patch("configmaps", "a", patch, field_manager="two") == made


async def test_entries_may_be_edited_by_hand(house: House) -> None:
    """Without a time, in any order, of versions that are no more: nothing of it is an error."""
    await house.create("configmaps", configmap(data={"k": "1", "l": "1"}), field_manager="one")
    base = {"operation": "Update", "fieldsType": "FieldsV1"}
    entries = [
        {**base, "manager": "old", "apiVersion": "v0", "fieldsV1": {"f:data": {"f:l": {}}}},
        {**base, "manager": "x", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:k": {}, ".": {}}}},
    ]
    edited = await house.patch("configmaps", "a", {"metadata": {MANAGED: entries}})
    changed = await house.patch("configmaps", "a", {"data": {"l": "2"}}, field_manager="two")

    assert [entry["manager"] for entry in edited["metadata"][MANAGED]] == ["old", "x"]
    assert owned(changed) == {
        ("x", "Update"): {"f:data": {".": {}, "f:k": {}}},
        ("two", "Update"): {"f:data": {"f:l": {}}},
    }


async def test_a_manager_with_too_long_a_name_is_refused(house: House) -> None:
    await house.create("configmaps", configmap(data={"k": "1"}))
    entry = {
        "manager": "x" * 129, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:k": {}}},
    }  # fmt: skip
    error = await refused(house.patch("configmaps", "a", {"metadata": {MANAGED: [entry]}}))

    assert error.code == 422
    assert error.causes[0].field == "metadata.managedFields[0].manager"


async def test_a_status_is_owned_apart_from_the_rest(house: House) -> None:
    await house.create("deployments", deployment(), field_manager="maker")
    patch = {"status": {"replicas": 1}, "spec": {"replicas": 9}}
    changed = await house.patch("deployments/status", "d", patch, field_manager="agent")

    assert owned(changed)["agent", "Update", "status"] == {"f:status": {"f:replicas": {}}}
    assert "f:replicas" in owned(changed)["maker", "Update"]["f:spec"]


async def test_at_a_subresource_the_managers_cannot_be_edited(house: House) -> None:
    made = await house.create("deployments", deployment(), field_manager="maker")
    patch = {"metadata": {MANAGED: []}, "status": {"replicas": 1}}
    changed = await house.patch("deployments/status", "d", patch, field_manager="agent")

    assert owned(changed)["maker", "Update"] == owned(made)["maker", "Update"]


async def test_what_is_sent_of_the_status_at_the_main_address_is_nobodys(house: House) -> None:
    await house.create("deployments", deployment(), field_manager="maker")
    patch = {"status": {"replicas": 7}, "metadata": {"labels": {"a": "b"}}}
    changed = await house.patch("deployments", "d", patch, field_manager="other")

    assert owned(changed)["other", "Update"] == {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}


async def test_whoever_scales_owns_the_replicas_of_the_workload(house: House) -> None:
    await house.create("deployments", deployment(replicas=1), field_manager="maker")
    await house.clock.advance(60)
    patch = {"spec": {"replicas": 3}}
    await house.patch("deployments/scale", "d", patch, field_manager="scaler")
    changed = await house.get("deployments", "d")

    assert owned(changed)["scaler", "Update", "scale"] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in owned(changed)["maker", "Update"]["f:spec"]
    entry = next(e for e in changed["metadata"][MANAGED] if e["manager"] == "scaler")
    assert entry["apiVersion"] == "apps/v1"

    await house.patch("deployments/scale", "d", patch, field_manager="idle")

    assert await house.get("deployments", "d") == changed


async def test_writes_of_an_object_in_another_version_are_compared_in_each(house: House) -> None:
    sent = {
        "metadata": {"name": "e"}, "involvedObject": {"namespace": "default"},
        "reason": "Because", "message": "old",
    }  # fmt: skip
    await house.create("events", sent, field_manager="core")
    patch = {"note": "new"}
    await house.patch("events", "e", patch, group="events.k8s.io", field_manager="new")
    fields = owned(await house.get("events", "e"))

    assert fields["new", "Update"] == {"f:note": {}}
    assert "f:message" not in fields["core", "Update"]
    assert "f:reason" in fields["core", "Update"]


async def test_the_server_is_named_where_it_writes_itself(house: House) -> None:
    namespace = await house.get("namespaces", "default")

    assert namespace["metadata"][MANAGED][0]["manager"] == "kube-apiserver"
