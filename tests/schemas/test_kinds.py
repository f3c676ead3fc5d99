from __future__ import annotations

import subprocess
import sys

from listwatch.protocol.kinds import GroupResource, GroupVersionKind, Resource
from listwatch.schemas.kinds import (
    builtin_resources,
    kept_resources,
    storage_version_hash,
    stored_field,
)


def resource(group: str, name: str) -> Resource:
    return next(r for r in builtin_resources() if (r.group, r.resource) == (group, name))


def test_every_stable_group_is_served() -> None:
    assert {
        "", "admissionregistration.k8s.io", "apps", "autoscaling", "batch", "certificates.k8s.io",
        "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
        "flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy",
        "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
    } <= {r.group for r in builtin_resources()}  # fmt: skip


def test_what_is_kept_is_named_once_in_its_stored_version() -> None:
    kept = kept_resources()
    scalers = [r.version for r in kept if r.resource == "horizontalpodautoscalers"]

    assert scalers == ["v2"]
    assert len({r.group_resource for r in kept}) == len(kept)
    assert not {"bindings", "componentstatuses"} & {r.resource for r in kept}


def test_a_pod_has_the_parts_that_the_real_one_has() -> None:
    assert [s.name for s in resource("", "pods").subresources] == [
        "attach", "binding", "ephemeralcontainers", "eviction", "exec", "log", "portforward",
        "proxy", "resize", "status",
    ]  # fmt: skip


def test_a_status_is_of_the_kind_it_belongs_to_and_a_scale_of_another_group() -> None:
    deployments = resource("apps", "deployments")
    status, scale = deployments.subresource("status"), deployments.subresource("scale")

    assert status is not None
    assert status.kind == GroupVersionKind("apps", "v1", "Deployment")
    assert scale is not None
    assert scale.kind == GroupVersionKind("autoscaling", "v1", "Scale")


def test_events_of_both_groups_are_the_same_objects() -> None:
    assert resource("events.k8s.io", "events").storage == GroupResource("", "events")
    assert resource("", "events").storage == GroupResource("", "events")


def test_a_field_of_the_newer_event_is_found_under_its_older_name() -> None:
    newer, older = resource("events.k8s.io", "events"), resource("", "events")
    found = {stored_field(newer, field) for field in newer.selectable_fields}

    assert found < set(older.selectable_fields)
    assert stored_field(newer, "regarding.kind") == "involvedObject.kind"
    assert stored_field(older, "reason") == "reason"


def test_namespaces_cannot_be_deleted_all_at_once() -> None:
    assert "deletecollection" not in resource("", "namespaces").verbs


def test_columns_keep_their_priority() -> None:
    columns = {column.name: column.priority for column in resource("", "pods").columns}

    assert columns["Name"] == 0
    assert columns["Node"] == 1


def test_the_storage_version_hash_is_the_real_servers() -> None:
    # As kube-apiserver 1.36 gives it in discovery.
    assert storage_version_hash(GroupVersionKind("", "v1", "ConfigMap")) == "qFsyl6wFWjQ="


def test_knowing_the_kinds_does_not_read_the_schemas() -> None:
    script = (
        "from listwatch.schemas import facts, kinds\n"
        "kinds.builtin_resources()\n"
        "assert facts._schema_texts.cache_info().currsize == 0\n"
        "assert facts._message_texts.cache_info().currsize == 0\n"
    )

    subprocess.run([sys.executable, "-c", script], check=True)
