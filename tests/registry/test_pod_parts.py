"""Debug containers, sizes, logs and streams of pods."""

from __future__ import annotations

import pytest

from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import JSONObject
from listwatch.registry.patch import STRATEGIC_PATCH
from listwatch.registry.pod_logs import PREFIX, LogOptions
from tests.registry.house import House, pod, refused

DEBUG = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "i:1"}]}}


def sized(**resources: JSONObject) -> JSONObject:
    container = {"name": "main", "image": "img.test/app:1", "resources": resources}
    return pod(containers=[container])


def resize(**resources: JSONObject) -> JSONObject:
    return {"spec": {"containers": [{"name": "main", "resources": resources}]}}


async def test_a_debug_container_is_added_and_counts_as_a_change(house: House) -> None:
    await house.create("pods", pod())
    changed = await house.patch("pods/ephemeralcontainers", "p", DEBUG, STRATEGIC_PATCH)
    (debug,) = changed["spec"]["ephemeralContainers"]

    assert (debug["name"], debug["imagePullPolicy"]) == ("debug", "IfNotPresent")
    assert changed["metadata"]["generation"] == 2


async def test_nothing_else_changes_at_that_address(house: House) -> None:
    await house.create("pods", pod())
    patch = {"metadata": {"labels": {"x": "y"}}, "spec": {"activeDeadlineSeconds": 5}}
    changed = await house.patch("pods/ephemeralcontainers", "p", patch)

    assert "labels" not in changed["metadata"]
    assert "activeDeadlineSeconds" not in changed["spec"]
    assert changed["metadata"]["generation"] == 1


async def test_a_debug_container_stays_as_it_is(house: House) -> None:
    await house.create("pods", pod())
    await house.patch("pods/ephemeralcontainers", "p", DEBUG, STRATEGIC_PATCH)
    gone = {"spec": {"ephemeralContainers": None}}
    error = await refused(house.patch("pods/ephemeralcontainers", "p", gone))

    assert error.causes[0].message == (
        'Forbidden: existing ephemeral containers "debug" may not be removed\n'
    )


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"ports": [{"containerPort": 80}]}, "spec.ephemeralContainers[0].ports"),
        ({"targetContainerName": "x"}, "spec.ephemeralContainers[0].targetContainerName"),
    ],
)
async def test_what_a_debug_container_cannot_have(
    house: House, more: JSONObject, where: str
) -> None:
    await house.create("pods", pod())
    patch = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "i:1", **more}]}}
    error = await refused(house.patch("pods/ephemeralcontainers", "p", patch))

    assert where in [cause.field for cause in error.causes]


async def test_a_container_can_be_resized_at_its_address_only(house: House) -> None:
    await house.create("pods", sized(requests={"cpu": "1"}))
    wanted = resize(requests={"cpu": "2"})
    changed = await house.patch("pods/resize", "p", wanted, STRATEGIC_PATCH)

    assert changed["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "2"}}
    assert changed["metadata"]["generation"] == 2
    error = await refused(house.patch("pods", "p", resize(requests={"cpu": "3"}), STRATEGIC_PATCH))
    assert error.code == 422


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (
            {},
            {"requests": {"cpu": "1"}},
            ('spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of '
            "resizing"),
        ),
        (
            {"requests": {"cpu": "1", "memory": "1Gi"}},
            {"requests": {"cpu": None}},
            "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
        ),
        (
            {"requests": {"cpu": "1"}},
            {"requests": {"ephemeral-storage": "1Gi"}},
            "spec: Forbidden: only cpu and memory resources are mutable",
        ),
    ],
)  # fmt: skip
async def test_sizes_that_cannot_be(
    house: House, before: JSONObject, after: JSONObject, why: str
) -> None:
    await house.create("pods", sized(**before))
    error = await refused(house.patch("pods/resize", "p", resize(**after), STRATEGIC_PATCH))

    assert why in error.message


async def test_a_log_is_what_was_recorded(house: House) -> None:
    notes = {f"{PREFIX}main": "one\ntwo\nthree\n"}
    await house.create("pods", pod(metadata={"annotations": notes}))
    ctx = house.ctx("pods/log", "p")

    assert await house.registry.log(ctx, LogOptions()) == "one\ntwo\nthree\n"
    assert await house.registry.log(ctx, LogOptions(tail_lines=1)) == "three\n"
    assert await house.registry.log(ctx, LogOptions(tail_lines=0)) == ""
    assert await house.registry.log(ctx, LogOptions(limit_bytes=5)) == "one\nt"


async def test_a_log_is_of_one_container(house: House) -> None:
    two = [{"name": name, "image": "i:1"} for name in ("a", "b")]
    await house.create("pods", pod(containers=two))
    ctx = house.ctx("pods/log", "p")
    several = await refused(house.registry.log(ctx, LogOptions()))
    none = await refused(house.registry.log(ctx, LogOptions("c")))

    assert several.message == ("a container name must be specified for pod p, choose one of: [a b]")
    assert none.message == "container c is not valid for pod p"
    assert await house.registry.log(ctx, LogOptions("b")) == ""


ENDED = {"terminated": {"exitCode": 1, "containerID": "containerd://1"}}
IN_POD = 'container "main" in pod "p"'


@pytest.mark.parametrize(
    ("status", "previous", "answer"),
    [
        ({"state": {"running": {}}}, False, "one\n"),
        ({"state": {"running": {}}}, True, f"previous terminated {IN_POD} not found"),
        ({"state": {"running": {}}, "lastState": ENDED}, True, "one\n"),
        ({"state": ENDED}, False, "one\n"),
        ({"state": {"waiting": {"reason": "X"}}, "lastState": ENDED}, False, "one\n"),
        (
            {"state": {"waiting": {"reason": "ContainerCreating"}}}, False,
            f"{IN_POD} is waiting to start: ContainerCreating",
        ),
        (
            {"state": {"waiting": {"reason": "ImagePullBackOff"}}}, False,
            f"{IN_POD} is waiting to start: trying and failing to pull image",
        ),
    ],
)  # fmt: skip
async def test_the_log_of_a_run_that_was_not_is_refused(
    house: House, status: JSONObject, previous: bool, answer: str
) -> None:
    await house.create("pods", pod(metadata={"annotations": {f"{PREFIX}main": "one\n"}}))
    whole = {"name": "main", "image": "i:1", "imageID": "", "ready": False, "restartCount": 0}
    await house.patch("pods/status", "p", {"status": {"containerStatuses": [{**whole, **status}]}})
    wanted = house.registry.log(house.ctx("pods/log", "p"), LogOptions(previous=previous))

    if answer.endswith("\n"):
        assert await wanted == answer
    else:
        error = await refused(wanted)
        assert (error.code, error.message) == (400, answer)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"tailLines": ["x"]}, 400),
        ({"tailLines": ["-1"]}, 422),
        ({"limitBytes": ["0"]}, 422),
    ],
)
def test_log_options_that_are_none(query: dict[str, list[str]], code: int) -> None:
    with pytest.raises(StatusError) as refusal:
        LogOptions.from_query(query, "p")
    assert refusal.value.code == code


@pytest.mark.parametrize(("spec", "code"), [({}, 400), ({"nodeName": "n"}, 503)])
async def test_there_is_nothing_to_stream_from(house: House, spec: JSONObject, code: int) -> None:
    await house.create("pods", pod(**spec))

    assert (await refused(house.registry.get(house.ctx("pods/exec", "p")))).code == code
    assert (await refused(house.registry.create(house.ctx("pods/exec", "p"), {}))).code == code
    assert (await refused(house.registry.get(house.ctx("pods/exec", "none")))).code == 404


async def test_a_binding_that_is_posted_to_bindings_names_its_pod(house: House) -> None:
    await house.create("pods", pod())
    answer = await house.create("bindings", {"metadata": {"name": "p"}, "target": {"name": "n"}})

    assert answer["status"] == "Success"
    assert (await house.get("pods", "p"))["spec"]["nodeName"] == "n"
    assert (await refused(house.create("bindings", {"target": {"name": "n"}}))).code == 422
