from __future__ import annotations

from dataclasses import replace

import pytest

from listwatch.protocol.objects import JSONObject
from listwatch.registry.admission.accounts import ServiceAccountPlugin
from listwatch.registry.admission.chain import PODS
from tests.registry.house import House, pod, refused

EXPANDABLE = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc "
    "must support resize"
)


@pytest.fixture
def accounts(house: House) -> None:
    """As `serve` has it: pods get accounts."""
    admission = house.registry.admission
    for plugin in admission._plugins[PODS]:
        if isinstance(plugin, ServiceAccountPlugin):
            plugin._enabled = True


def mounts(made: JSONObject) -> list[str]:
    return [m["mountPath"] for m in made["spec"]["containers"][0].get("volumeMounts", ())]


async def test_a_pod_runs_as_an_account_and_carries_its_token(house: House, accounts: None) -> None:
    made = await house.create("pods", pod("a"))

    (volume,) = made["spec"]["volumes"]
    assert made["spec"]["serviceAccountName"] == "default"
    assert volume["name"].startswith("kube-api-access-")
    assert volume["projected"]["sources"][0] == {
        "serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}
    }
    assert mounts(made) == ["/var/run/secrets/kubernetes.io/serviceaccount"]
    assert await house.get("serviceaccounts", "default")  # made for the first pod


async def test_who_wants_no_token_gets_none(house: House, accounts: None) -> None:
    made = await house.create("pods", pod("a", automountServiceAccountToken=False))
    quiet = {"metadata": {"name": "quiet"}, "automountServiceAccountToken": False}
    await house.create("serviceaccounts", quiet)
    other = await house.create("pods", pod("b", serviceAccountName="quiet"))

    assert (mounts(made), mounts(other)) == ([], [])


async def test_an_account_that_is_not_there_refuses_the_pod(house: House, accounts: None) -> None:
    error = await refused(house.create("pods", pod("a", serviceAccountName="none")))

    assert error.message == (
        'pods "a" is forbidden: error looking up service account default/none: serviceaccount '
        '"none" not found'
    )


async def test_without_controllers_a_pod_stays_as_it_was_sent(house: House) -> None:
    made = await house.create("pods", pod("a"))

    assert "volumes" not in made["spec"]


async def test_a_pod_has_the_number_of_its_priority_class(house: House) -> None:
    group = "scheduling.k8s.io"
    await house.create("priorityclasses", {"metadata": {"name": "high"}, "value": 7}, group=group)
    made = await house.create("pods", pod("a", priorityClassName="high"))
    plain = await house.create("pods", pod("b"))
    critical = await house.create("pods", pod("c", priorityClassName="system-node-critical"))
    error = await refused(house.create("pods", pod("d", priorityClassName="none")))

    assert [p["spec"]["priority"] for p in (made, plain, critical)] == [7, 0, 2_000_001_000]
    assert error.message == ('pods "d" is forbidden: no PriorityClass with name none was found')


async def test_a_pod_preempts_as_its_priority_class_says(house: House) -> None:
    group, polite = "scheduling.k8s.io", {"value": 7, "preemptionPolicy": "Never"}
    computed = "priority admission controller computed {} from the given PriorityClass name"
    refusal = (
        f"the string value of PreemptionPolicy ({{}}) must not be provided in pod spec; {computed}"
    )

    async def why(policy: str, **more: str) -> str:
        error = await refused(house.create("pods", pod("a", preemptionPolicy=policy, **more)))
        assert (error.code, error.reason) == (403, "Forbidden")
        return error.message.removeprefix('pods "a" is forbidden: ')

    # Where there are no classes, too, and before anybody asks whether there is such a policy.
    for policy in ("Never", "Bad", ""):
        assert await why(policy) == refusal.format(policy, "PreemptLowerPriority")
    await house.create("priorityclasses", {"metadata": {"name": "polite"}, **polite}, group=group)
    named = {"priorityClassName": "polite"}
    made = await house.create("pods", pod("b", **named))

    assert made["spec"]["preemptionPolicy"] == "Never"
    assert await why("PreemptLowerPriority", **named) == refusal.format(
        "PreemptLowerPriority", "Never"
    )
    assert await why("Never", priorityClassName="system-node-critical") == refusal.format(
        "Never", "PreemptLowerPriority"
    )
    await house.create("pods", pod("c", preemptionPolicy="Never", **named))


async def test_a_claim_gets_the_default_storage_class(house: House) -> None:
    marked = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    for name, metadata in (("plain", {}), ("standard", marked)):
        ctx = replace(house.ctx("storageclasses", group="storage.k8s.io"))
        document = {"metadata": {"name": name, **metadata}, "provisioner": "x.test/p"}
        await house.registry.create(ctx, document)
    await house.registry.catch_up()
    spec = {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }  # fmt: skip

    made = await house.create("persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": spec})

    assert made["spec"]["storageClassName"] == "standard"


@pytest.mark.parametrize(
    ("expandable", "storage", "why"),
    [
        (True, "2Gi", ""),
        (False, "1Gi", ""),
        (False, "2Gi", EXPANDABLE),
    ],
)  # fmt: skip
async def test_a_bound_claim_grows_where_its_class_allows_it(
    house: House, *, expandable: bool, storage: str, why: str
) -> None:
    ctx = replace(house.ctx("storageclasses", group="storage.k8s.io"))
    document = {
        "metadata": {"name": "fast"}, "provisioner": "x.test/p",
        "allowVolumeExpansion": expandable,
    }  # fmt: skip
    await house.registry.create(ctx, document)
    spec = {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "fast", "volumeName": "v",
    }  # fmt: skip
    await house.create("persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": spec})
    bound = {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
    await house.patch("persistentvolumeclaims/status", "c", bound)
    change = {"spec": {"resources": {"requests": {"storage": storage}}}}

    if not why:
        assert await house.patch("persistentvolumeclaims", "c", change)
        return
    error = await refused(house.patch("persistentvolumeclaims", "c", change))
    assert (error.code, error.message) == (
        403, f'persistentvolumeclaims "c" is forbidden: {why}',
    )  # fmt: skip
