"""Kubeconfig files, and the files a Pod finds in a cluster, as a ClientConfig for `client`."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from listwatch.informer.client_config import ClientConfig
from listwatch.informer.exec_plugin import CredentialError, ExecCredential, ExecPlugin

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
    that has one; a client runs it again when what it gave has run out.
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
    if user.get("auth-provider"):
        raise KubeconfigError("auth-provider users are gone from Kubernetes since 1.26: use exec")
    plugin, credential = _from_plugin(user, folder, cluster)
    insecure = bool(cluster.get("insecure-skip-tls-verify"))
    try:
        return ClientConfig(
            server=str(cluster.get("server") or ""),
            token=credential.token or str(user.get("token") or ""),
            token_file=str(folder / user["tokenFile"]) if user.get("tokenFile") else "",
            ca="" if insecure else _pem(cluster, "certificate-authority", folder),
            client_certificate=credential.certificate or _pem(user, "client-certificate", folder),
            client_key=credential.key or _pem(user, "client-key", folder),
            username=str(user.get("username") or ""),
            password=str(user.get("password") or ""),
            insecure=insecure,
            tls_server_name=str(cluster.get("tls-server-name") or ""),
            namespace=str(chosen.get("namespace") or "default"),
            impersonate=str(user.get("as") or ""),
            plugin=plugin,
            expires_at=credential.expires_at,
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


def _from_plugin(
    user: Mapping[str, Any], folder: Path, cluster: Mapping[str, Any]
) -> tuple[ExecPlugin | None, ExecCredential]:
    if not user.get("exec"):
        return None, ExecCredential()
    try:
        plugin = ExecPlugin.of(user["exec"], folder, cluster)
        return plugin, plugin.run()
    except (ValueError, KeyError, CredentialError) as error:
        raise KubeconfigError(str(error)) from error


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
