"""kubectl commands that do or show the same: in empty states, above attached watchers."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource

_CREATE = {
    "pods": "kubectl run web --image=nginx",
    "configmaps": "kubectl create configmap demo --from-literal=colour=blue",
    "secrets": "kubectl create secret generic demo --from-literal=token=abc",
    "namespaces": "kubectl create namespace demo",
    "serviceaccounts": "kubectl create serviceaccount demo",
    "services": "kubectl create service clusterip web --tcp=80",
    "deployments": "kubectl create deployment web --image=nginx",
}
WRITE = _CREATE["configmaps"]


def kubectl_name(resource: Resource) -> str:
    """How kubectl is told this resource: `pods`, `deployments.apps`."""
    return f"{resource.resource}.{resource.group}" if resource.group else resource.resource


def write(resource: Resource, namespace: str = "") -> str:
    """A command that writes an object of this resource: into `namespace`, if one is said."""
    usual = f"kubectl apply -f {resource.singular or resource.resource}.yaml"
    command = _CREATE.get(resource.resource, usual)
    return f"{command} -n {shlex.quote(namespace)}" if namespace else command


def watch(resource: Resource, form: Mapping[str, Any] | None = None) -> str:
    """A command that watches as the attach form says: namespace, selectors."""
    form = form or {}
    words = ["kubectl", "get", kubectl_name(resource)]
    if resource.namespaced:
        namespace = str(form.get("namespace", "")).strip()
        words += ["-n", namespace] if namespace else ["-A"]
    for field, flag in (("labels", "-l"), ("fields", "--field-selector")):
        if text := str(form.get(field, "")).strip():
            words += [flag, text]
    words += ["--watch-only" if form.get("from") == "now" else "-w", "--output-watch-events"]
    return shlex.join(words)
