from __future__ import annotations

import pytest

from listwatch.protocol.objects import JSONObject, encode
from listwatch.registry.service_addresses import ENDPOINTS
from listwatch.store.writes import Create
from tests.registry.hooks import Hook, allow, configure, patch
from tests.registry.house import House, configmap, refused


async def test_a_refusal_is_told_in_the_webhooks_words(house: House, hook: Hook) -> None:
    status = {"message": "not on Fridays", "code": 403, "reason": "Forbidden"}
    await configure(house, hook, "validating", lambda _: {"allowed": False, "status": status})

    error = await refused(house.create("configmaps", configmap("a")))

    assert (error.code, error.reason) == (403, "Forbidden")
    assert error.message == 'admission webhook "w.x.test" denied the request: not on Fridays'
    assert await house.names("configmaps") == []


async def test_it_is_told_what_happens_to_which_object_by_whom(house: House, hook: Hook) -> None:
    await configure(house, hook, "validating", allow)
    made = await house.create("configmaps", configmap("a", data={"k": "1"}))
    made["data"] = {"k": "2"}
    await house.put("configmaps", made)
    await house.delete("configmaps", "a")

    create, update, delete = hook.asked
    assert [one["operation"] for one in hook.asked] == ["CREATE", "UPDATE", "DELETE"]
    assert create["object"]["data"] == {"k": "1"}
    assert create["object"]["metadata"]["uid"]
    assert create["oldObject"] is None
    assert (update["oldObject"]["data"], update["object"]["data"]) == ({"k": "1"}, {"k": "2"})
    assert (delete["object"], delete["oldObject"]["data"]) == (None, {"k": "2"})
    assert (create["name"], create["namespace"]) == ("a", "default")
    assert create["userInfo"] == {"username": "tester"}
    assert create["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}


async def test_a_patch_changes_what_is_stored(house: House, hook: Hook) -> None:
    added = {"op": "add", "path": "/data", "value": {"by": "hook"}}
    await configure(house, hook, "mutating", patch(added))

    made = await house.create("configmaps", configmap("a"))

    assert made["data"] == {"by": "hook"}
    assert (await house.get("configmaps", "a"))["data"] == {"by": "hook"}


async def test_a_deletion_can_be_refused(house: House, hook: Hook) -> None:
    await house.create("configmaps", configmap("a"))
    await configure(
        house, hook, "validating", lambda asked: {"allowed": asked["operation"] != "DELETE"}
    )

    error = await refused(house.delete("configmaps", "a"))

    assert error.message == 'admission webhook "w.x.test" denied the request without explanation'
    assert error.code == 400
    assert await house.names("configmaps") == ["a"]


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_who_cannot_be_asked_counts_as_the_failure_policy_says(
    house: House, hook: Hook, policy: str
) -> None:
    nowhere = "https://127.0.0.1:9/x"
    await configure(house, hook, "validating", allow, url=nowhere, failurePolicy=policy)

    if policy == "Ignore":
        assert await house.create("configmaps", configmap("a"))
        return
    error = await refused(house.create("configmaps", configmap("a")))
    assert error.code == 500
    assert error.message.startswith(
        'Internal error occurred: failed calling webhook "w.x.test": failed to call webhook: '
        'Post "https://127.0.0.1:9/x?timeout=10s":'
    )


async def test_who_thinks_too_long_has_failed(house: House, hook: Hook) -> None:
    hook.delay = 30
    await configure(house, hook, "validating", allow, timeoutSeconds=1)

    error = await refused(house.create("configmaps", configmap("a")))

    assert error.message.endswith('?timeout=1s": context deadline exceeded')


async def test_selectors_and_conditions_narrow_what_it_is_asked(house: House, hook: Hook) -> None:
    await configure(
        house, hook, "validating", allow, objectSelector={"matchLabels": {"watch": "me"}},
        matchConditions=[{"name": "c", "expression": "object.metadata.name != 'b'"}],
    )  # fmt: skip
    labelled = {"labels": {"watch": "me"}}
    await house.create("configmaps", configmap("a"))
    await house.create("configmaps", configmap("b", metadata=labelled))
    await house.create("configmaps", configmap("c", metadata=labelled))

    assert [one["name"] for one in hook.asked] == ["c"]


async def test_a_namespace_selector_looks_at_the_namespace(house: House, hook: Hook) -> None:
    await configure(
        house, hook, "validating", allow,
        namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
    )  # fmt: skip
    await house.create("configmaps", configmap("a"))
    await house.create("configmaps", configmap("a"), namespace="kube-system")

    assert [one["namespace"] for one in hook.asked] == ["kube-system"]


async def test_a_dry_run_is_told_as_one(house: House, hook: Hook) -> None:
    await configure(house, hook, "validating", allow, sideEffects="NoneOnDryRun")
    await house.create("configmaps", configmap("a"), dry_run=True)
    assert hook.asked[0]["dryRun"] is True


async def test_what_one_changes_those_who_ask_for_it_see_again(house: House, hook: Hook) -> None:
    await configure(house, hook, "mutating", allow, name="a.x.test", reinvocationPolicy="IfNeeded")
    added = {"op": "add", "path": "/data", "value": {"by": "b"}}
    await configure(house, hook, "mutating", patch(added), name="b.x.test")

    await house.create("configmaps", configmap("a"))

    assert [one["object"].get("data") for one in hook.asked] == [None, None, {"by": "b"}]


@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        ({"operations": ["CREATE"], "resources": ["configmaps"]}, 1),
        ({"operations": ["UPDATE"], "resources": ["configmaps"]}, 0),
        ({"operations": ["*"], "resources": ["*"]}, 1),
        ({"operations": ["*"], "resources": ["*/*"]}, 1),
        ({"operations": ["*"], "resources": ["configmaps/*"]}, 1),
        ({"operations": ["*"], "resources": ["configmaps/status"]}, 0),
        ({"operations": ["*"], "resources": ["configmaps"], "scope": "Cluster"}, 0),
    ],
)
async def test_rules_say_what_it_is_asked_about(
    house: House, hook: Hook, rule: JSONObject, asked: int
) -> None:
    rules = [{"apiGroups": ["*"], "apiVersions": ["*"], **rule}]
    await configure(house, hook, "validating", allow, rules=rules)

    await house.create("configmaps", configmap("a"))

    assert len(hook.asked) == asked


async def test_warnings_go_to_the_client(house: House, hook: Hook) -> None:
    await configure(
        house, hook, "validating", lambda _: {"allowed": True, "warnings": ["mind the gap"]}
    )
    ctx = house.ctx("configmaps")

    await house.registry.create(ctx, configmap("a"))

    assert ctx.warnings == ["mind the gap"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"uid": "other", "allowed": True}, "expected response.uid="),
        ({"allowed": True, "patch": "AAAA"}, 'invalid patchType ""'),
        ({"allowed": True, "patch": "!", "patchType": "JSONPatch"}, "the patch cannot be read"),
        ({"allowed": "yes", "status": []}, "denied the request without explanation"),
    ],
)
async def test_an_answer_that_is_none_is_a_failure(
    house: House, hook: Hook, answer: JSONObject, why: str
) -> None:
    await configure(house, hook, "mutating", lambda _: answer)

    error = await refused(house.create("configmaps", configmap("a")))

    assert why in error.message


async def test_a_service_is_reached_through_its_endpoints(house: House, hook: Hook) -> None:
    ports = [{"name": "tls", "port": 443, "targetPort": hook.port}]
    await house.create("services", {"metadata": {"name": "hook"}, "spec": {"ports": ports}})
    subset = {"addresses": [{"ip": "127.0.0.1"}], "ports": [{"name": "tls", "port": hook.port}]}
    config = {
        "service": {"namespace": "default", "name": "hook", "path": "/w.x.test"},
        "caBundle": hook.bundle,
    }
    await configure(house, hook, "validating", allow, clientConfig=config)

    error = await refused(house.create("configmaps", configmap("a")))
    assert 'no endpoints available for service "hook"' in error.message

    # The API takes no endpoints of the loopback, so these are written behind its back.
    document = {"kind": "Endpoints", "apiVersion": "v1", "metadata": {"name": "hook"}}
    written = Create(ENDPOINTS, "default", "hook", "u", encode({**document, "subsets": [subset]}))
    await house.committer.submit(written)
    await house.registry.catch_up()
    await house.create("configmaps", configmap("a"))
    assert len(hook.asked) == 1
