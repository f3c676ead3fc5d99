"""Kubeconfig files, and the files a Pod finds in a cluster, as a ClientConfig for `client`."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from listwatch.informer.client_config import ClientConfig

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class KubeconfigError(ValueError):
    """A file that does not say what it should; the text names the file and the place."""


def default_path() -> Path:
    """`$KUBECONFIG` (its first file that exists), or `~/.kube/config`."""
    named = [Path(p) for p in os.environ.get("KUBECONFIG", "").split(os.pathsep) if p]
    existing = [path for path in named if path.exists()]
    return (existing or named or [Path.home() / ".kube" / "config"])[0]


def load(path: str | Path | None = None, context: str = "") -> ClientConfig:
    """The server and identity of a context, of the current one unless named.

    Raises KubeconfigError; OSError for a file that cannot be read. Runs the `exec` plugin of a user
    that has one.
    """
    file = Path(path) if path is not None else default_path()
    try:
        document = yaml.safe_load(file.read_text())
    except yaml.YAMLError as error:
        raise KubeconfigError(f"{file}: no YAML: {error}") from error
    if not isinstance(document, dict):
        raise KubeconfigError(f"{file}: not a kubeconfig")
    return from_document(document, file.parent, context or document.get("current-context") or "")


def from_document(document: Mapping[str, Any], folder: Path, context: str) -> ClientConfig:
    """The same of a document that was read already; relative file names are seen from `folder`."""
    chosen = _named(document, "contexts", "context", context)
    cluster = _named(document, "clusters", "cluster", chosen.get("cluster") or "")
    user = _named(document, "users", "user", chosen["user"]) if chosen.get("user") else {}
    if user.get("exec"):
        user = {**user, **_run_plugin(user["exec"])}
    if user.get("auth-provider"):
        raise KubeconfigError("auth-provider users are gone from Kubernetes since 1.26: use exec")
    insecure = bool(cluster.get("insecure-skip-tls-verify"))
    try:
        return ClientConfig(
            server=str(cluster.get("server") or ""),
            token=str(user.get("token") or ""),
            token_file=str(folder / user["tokenFile"]) if user.get("tokenFile") else "",
            ca="" if insecure else _pem(cluster, "certificate-authority", folder),
            client_certificate=_pem(user, "client-certificate", folder),
            client_key=_pem(user, "client-key", folder),
            username=str(user.get("username") or ""),
            password=str(user.get("password") or ""),
            insecure=insecure,
            tls_server_name=str(cluster.get("tls-server-name") or ""),
            namespace=str(chosen.get("namespace") or "default"),
            impersonate=str(user.get("as") or ""),
        )
    except ValueError as error:
        raise KubeconfigError(f"context {context!r}: {error}") from error


def in_cluster(folder: Path = SERVICE_ACCOUNT) -> ClientConfig:
    """The server and identity of the Pod this process runs in; raises KubeconfigError outside."""
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    port = os.environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise KubeconfigError(
            "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set"
        )
    address = f"[{host}]" if ":" in host else host
    try:
        ca = (folder / "ca.crt").read_text()
        token = (folder / "token").read_text().strip()
    except OSError as error:
        raise KubeconfigError(f"not in a cluster: {error}") from error
    namespace = folder / "namespace"
    return ClientConfig(
        server=f"https://{address}:{port}",
        token=token,
        token_file=str(folder / "token"),
        ca=ca,
        namespace=namespace.read_text().strip() if namespace.exists() else "default",
    )


def _named(document: Mapping[str, Any], many: str, one: str, name: str) -> dict[str, Any]:
    for entry in document.get(many) or ():
        if entry.get("name") == name:
            return dict(entry.get(one) or {})
    raise KubeconfigError(f"no {one} {name!r} in the kubeconfig")


def _pem(entry: Mapping[str, Any], name: str, folder: Path) -> str:
    data = entry.get(f"{name}-data")  # wins over the file, as in client-go
    if data:
        try:
            return base64.b64decode(data, validate=True).decode()
        except ValueError as error:
            raise KubeconfigError(f"{name}-data is no base64 of text") from error
    return (folder / entry[name]).read_text() if entry.get(name) else ""


def _run_plugin(plugin: Mapping[str, Any]) -> dict[str, str]:
    version = plugin.get("apiVersion") or "client.authentication.k8s.io/v1"
    info = {"kind": "ExecCredential", "apiVersion": version, "spec": {"interactive": False}}
    environment = {**os.environ, "KUBERNETES_EXEC_INFO": json.dumps(info)}
    environment |= {item["name"]: item["value"] for item in plugin.get("env") or ()}
    command = [plugin["command"], *(plugin.get("args") or ())]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, check=True, timeout=60, text=True
        )
        status = json.loads(done.stdout)["status"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise KubeconfigError(f"the plugin {plugin['command']!r} gave no credential") from error
    found = {"token": status.get("token") or ""}
    for theirs, ours in (("clientCertificateData", "certificate"), ("clientKeyData", "key")):
        if status.get(theirs):
            found[f"client-{ours}-data"] = base64.b64encode(status[theirs].encode()).decode()
    return found
