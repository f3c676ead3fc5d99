"""Cells of what runs pods."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells.texts import (
    age,
    containers,
    labels,
    name_of,
    number,
    part,
    selector,
)

_POD = ("spec", "template", "spec")


def deployment(document: JSONObject, now: float) -> list[Any]:
    """Name, Ready, Up-to-date, Available, Age, Containers, Images, Selector."""
    status = part(document, "status")
    return [
        name_of(document),
        f"{number(status, 'readyReplicas')}/{number(document, 'spec', 'replicas')}",
        number(status, "updatedReplicas"),
        number(status, "availableReplicas"),
        age(document, now),
        *containers(document, *_POD),
        selector(part(document, "spec").get("selector"), nothing=""),
    ]


def replica_set(document: JSONObject, now: float) -> list[Any]:
    """Name, Desired, Current, Ready, Age, Containers, Images, Selector."""
    return [
        *_replicas(document),
        age(document, now),
        *containers(document, *_POD),
        selector(part(document, "spec").get("selector")),
    ]


def replication_controller(document: JSONObject, now: float) -> list[Any]:
    """Name, Desired, Current, Ready, Age, Containers, Images, Selector."""
    return [
        *_replicas(document),
        age(document, now),
        *containers(document, *_POD),
        labels(part(document, "spec", "selector")),
    ]


def _replicas(document: JSONObject) -> list[Any]:
    return [
        name_of(document),
        number(document, "spec", "replicas"),
        number(document, "status", "replicas"),
        number(document, "status", "readyReplicas"),
    ]


def stateful_set(document: JSONObject, now: float) -> list[Any]:
    """Name, Ready, Age, Containers, Images."""
    ready = number(document, "status", "readyReplicas")
    return [
        name_of(document),
        f"{ready}/{number(document, 'spec', 'replicas')}",
        age(document, now),
        *containers(document, *_POD),
    ]


def daemon_set(document: JSONObject, now: float) -> list[Any]:
    """Name, Desired, Current, Ready, Up-to-date, Available, Node Selector, Age, and wide ones."""
    status = part(document, "status")
    return [
        name_of(document),
        number(status, "desiredNumberScheduled"),
        number(status, "currentNumberScheduled"),
        number(status, "numberReady"),
        number(status, "updatedNumberScheduled"),
        number(status, "numberAvailable"),
        labels(part(document, *_POD, "nodeSelector")),
        age(document, now),
        *containers(document, *_POD),
        selector(part(document, "spec").get("selector")),
    ]


def pod_template(document: JSONObject, now: float) -> list[Any]:
    """Name, Containers, Images, Pod Labels."""
    return [
        name_of(document),
        *containers(document, "template", "spec"),
        labels(part(document, "template", "metadata", "labels")),
    ]
