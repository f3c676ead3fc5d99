"""A scrape tells what the statistics tell, under names that Grafana boards know."""

from __future__ import annotations

import json

from prometheus_client.parser import text_string_to_metric_families

from tests.servers import Server

PATH = "/api/v1/namespaces/default/configmaps"


def scraped(server: Server) -> dict[tuple[str, str], float]:
    """Metric name and resource to value."""
    status, text = server.get("/metrics")
    assert status == 200
    return {
        (sample.name, sample.labels.get("resource", "")): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def test_a_write_moves_the_numbers_it_should(server: Server) -> None:
    before = scraped(server)
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "counted"}}

    made = server.json("POST", PATH, document)
    server.json("GET", PATH)
    after = scraped(server)
    server.json("DELETE", f"{PATH}/counted")

    revision = int(made["metadata"]["resourceVersion"])
    assert after["apiserver_watch_cache_resource_version", "configmaps"] >= revision
    assert after["listwatch_head_revision", ""] >= revision
    for name, at_least in (
        ("apiserver_watch_cache_events_received_total", 1),
        ("apiserver_cache_list_total", 1),
    ):
        assert after[name, "configmaps"] - before[name, "configmaps"] >= at_least, name
    objects = "apiserver_resource_objects"
    assert after[objects, "configmaps"] - before[objects, "configmaps"] == 1
    assert after["listwatch_commit_writes_total", ""] > before["listwatch_commit_writes_total", ""]
    assert ("apiserver_terminated_watchers_total", "pods") in after


def test_nobody_without_a_right_to_it_sees_the_numbers(server: Server) -> None:
    status, refusal = server.get("/metrics", token="")

    assert status == 403
    assert json.loads(refusal)["reason"] == "Forbidden"
