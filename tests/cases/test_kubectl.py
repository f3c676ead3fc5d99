"""Public reports on what kubectl shows and waits for."""

from __future__ import annotations

import json
import re
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cases.place import Place, event
from tests.clients.kubectl import Kubectl, newest, older
from tests.clients.test_kubectl import eventually, whole_lines

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@pytest.fixture(params=[pytest.param(newest, id="newest"), pytest.param(older, id="older")])
def kubectl(request: pytest.FixtureRequest, place: Place, tmp_path: Path) -> Kubectl:
    binary: Path | None = request.param()
    if binary is None or not binary.exists():
        pytest.skip("kubectl is not installed")
    return Kubectl(binary, place.server.kubeconfig, tmp_path)


# kubernetes/kubernetes#66538, #66642, #58931
@pytest.mark.external
def test_the_columns_of_a_custom_kind_are_the_same_listed_and_watched(
    place: Place, kubectl: Kubectl, tmp_path: Path
) -> None:
    place.widget("a", {"size": 3, "colour": "red", "since": "2020-01-01T00:00:00Z"})
    seen = tmp_path / "seen"
    listed = kubectl("get", "-n", place.namespace, "widgets").splitlines()
    wide = kubectl("get", "-n", place.namespace, "widgets", "-o", "wide").splitlines()
    watching = kubectl.start("get", "-n", place.namespace, "widgets", "-w", output=seen)
    try:
        eventually(whole_lines(seen), "a ")
        place.widget("b", {"size": 44, "since": "2020-01-01T00:00:00Z"})
        text = eventually(whole_lines(seen), "b ")
    finally:
        watching.kill()
        watching.wait()

    assert listed[0].split() == ["NAME", "SIZE", "PHASE", "SINCE"]
    assert wide[0].split() == ["NAME", "SIZE", "PHASE", "SINCE", "COLOUR"]
    assert "red" in wide[1]
    assert re.match(r"b +44 +\d+y\d*d?$", text.splitlines()[-1].rstrip()), text


# kubernetes/kubernetes#83056, kubernetes/kubectl#542
@pytest.mark.external
@pytest.mark.parametrize("how", [(), ("--watch-only",), ("-o", "json"),
                                 ("-o", "custom-columns=R:.reason")])  # fmt: skip
def test_events_that_come_later_look_like_the_first_and_the_command_goes_on(
    place: Place, kubectl: Kubectl, tmp_path: Path, how: tuple[str, ...]
) -> None:
    def happen(name: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        place.server.json("POST", f"/api/v1/namespaces/{place.namespace}/events", {
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
            "involvedObject": {"namespace": place.namespace, "kind": "Widget", "name": "w"},
            "reason": f"{place.namespace}-{name}",
            "message": f"message of {name}", "type": "Normal",
            "lastTimestamp": now,
        })  # fmt: skip

    seen = tmp_path / "seen"
    happen("first")
    watching = kubectl.start("get", "events", "-A", "-w", *how, output=seen)
    try:
        if how != ("--watch-only",):
            eventually(whole_lines(seen), f"{place.namespace}-first")
        else:
            time.sleep(1)  # nothing tells when a watch that shows nothing has begun
        for name in ("second", "third"):
            happen(name)
            text = eventually(whole_lines(seen), f"{place.namespace}-{name}")
        assert watching.poll() is None
    finally:
        watching.kill()
        watching.wait()
    if not how or how == ("--watch-only",):
        last = [line for line in text.splitlines() if f"{place.namespace}-third" in line][-1]
        assert last.split()[0] == place.namespace
        assert last.split()[2:5] == ["Normal", f"{place.namespace}-third", "widget/w"]
        assert last.rstrip().endswith("message of third")


# opencontrolplane/opencp-shim#6
@pytest.mark.external
def test_an_age_is_a_human_one(place: Place, kubectl: Kubectl) -> None:
    place.config_map("c")
    line = kubectl("get", "-n", place.namespace, "configmaps", "c", "--no-headers")

    assert re.fullmatch(r"c +0 +\d+s", line.strip())


# kubernetes/kubernetes#91565, #48447, #12635; opencontrolplane/opencp-shim#6
def test_a_creation_is_stamped_in_whole_seconds_and_not_later_than_the_answer(
    place: Place,
) -> None:
    for number in range(10):
        stamp = place.config_map(f"c{number}")["metadata"]["creationTimestamp"]
        made = datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        assert 0 <= (datetime.now(UTC) - made).total_seconds() < 30
    stamped = place.config_map("odd", creationTimestamp="2001-01-01T00:00:00Z")
    assert stamped["metadata"]["creationTimestamp"] > "2001-01-02"
    status, table = place.answer("GET", place.config_maps, Accept=TABLE)
    assert status == 200
    for row in table["rows"]:
        assert row["object"]["metadata"]["creationTimestamp"]
        assert re.fullmatch(r"\d+[smh]", row["cells"][-1])


# kubernetes/kubernetes#66538
def test_a_watch_that_asks_for_tables_gets_them_with_the_cells_of_the_list(place: Place) -> None:
    made = place.widget("a", {"size": 3})
    listed = place.answer("GET", place.widgets, Accept=TABLE)[1]
    from urllib.request import Request, urlopen

    revision = int(made["metadata"]["resourceVersion"]) - 1
    url = f"{place.server.url}{place.widgets}?watch=1&timeoutSeconds=1&resourceVersion={revision}"
    headers = {"Accept": TABLE, "Authorization": f"Bearer {place.server.token}"}
    with urlopen(Request(url, headers=headers), timeout=20) as answer:
        first = json.loads(answer.readline())

    assert first["object"]["kind"] == "Table"
    assert (
        first["object"]["rows"][0]["cells"][:3] == listed["rows"][0]["cells"][:3] == ["a", 3, None]
    )


# kubernetes/kubernetes#71420, #93365, #87747
@pytest.mark.external
@pytest.mark.parametrize("delay", [-1.0, 0.0, 1.5])
def test_wait_for_delete_returns_whenever_the_object_goes(
    place: Place, kubectl: Kubectl, delay: float
) -> None:
    path = f"{place.config_maps}/a"
    made = place.config_map("a", finalizers=["demo.example.com/hold"])
    place.delete(path)

    def release() -> None:
        document = place.get(path)
        document["metadata"]["finalizers"] = []
        place.put(path, document)

    if delay < 0:
        release()
    else:
        threading.Timer(delay, release).start()
    done = kubectl.run(
        "wait", "-n", place.namespace, "--for=delete", "configmap/a", "--timeout=10s"
    )

    assert done.returncode == 0, done.stderr
    listing = place.get(f"{place.config_maps}?fieldSelector=metadata.name%3Da")
    assert listing["items"] == []
    assert int(listing["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])


# stackshy/cloudemu PR #880, kubernetes/kubernetes#140890
@pytest.mark.external
def test_waits_and_rollouts_return(place: Place, kubectl: Kubectl) -> None:
    place.server.json("POST", f"/apis/apps/v1/namespaces/{place.namespace}/deployments", {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    })  # fmt: skip
    place.widget("a")
    deployment = f"/apis/apps/v1/namespaces/{place.namespace}/deployments/web"

    def progress() -> None:
        document = place.get(deployment)
        document["status"] = {
            "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1,
            "availableReplicas": 1,
        }  # fmt: skip
        place.put(f"{deployment}/status", document)
        widget = place.get(f"{place.widgets}/a")
        place.put(f"{place.widgets}/a/status", {**widget, "status": {"phase": "Done"}})

    timer = threading.Timer(1.0, progress)
    timer.start()
    kubectl("rollout", "status", "-n", place.namespace, "deployment/web", "--timeout=20s")
    kubectl("wait", "-n", place.namespace, "--for=jsonpath={.status.phase}=Done", "widget/a",
            "--timeout=20s")  # fmt: skip
    timer.join()


# kubernetes/kubernetes#139485
def test_a_watch_that_ends_by_its_timeout_ends_its_chunks_properly(place: Place) -> None:
    with place.watch(place.widgets, "watch=1&timeoutSeconds=1") as stream:
        assert stream.event() is None
    place.widget("a")
    with place.watch(place.widgets, "watch=1") as stream:
        assert event(stream)[0] == "ADDED"
