"""Servers and identities out of files."""

from __future__ import annotations

import base64
import ssl
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from listwatch.informer import kubeconfig
from listwatch.informer.client_config import ClientConfig
from listwatch.informer.kubeconfig import KubeconfigError

PEM = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\ny\n-----END PRIVATE KEY-----\n"


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def written(folder: Path, user: dict[str, Any], **cluster: Any) -> Path:
    document = {
        "current-context": "main",
        "contexts": [
            {"name": "main", "context": {"cluster": "c", "user": "u", "namespace": "blue"}},
            {"name": "other", "context": {"cluster": "missing", "user": "u"}},
        ],
        "clusters": [{"name": "c", "cluster": {"server": "https://host:6443", **cluster}}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return path


def test_an_inline_ca_a_token_and_a_namespace(tmp_path: Path) -> None:
    path = written(tmp_path, {"token": "secret"}, **{"certificate-authority-data": b64(PEM)})
    config = kubeconfig.load(path)

    assert (config.server, config.token, config.ca) == ("https://host:6443", "secret", PEM)
    assert config.namespace == "blue"
    assert "secret" not in repr(config)


def test_client_certificates_inline_and_from_files_beside_the_config(tmp_path: Path) -> None:
    inline = {"client-certificate-data": b64(PEM), "client-key-data": b64(KEY)}
    assert kubeconfig.load(written(tmp_path, inline)).client_key == KEY

    (tmp_path / "me.crt").write_text(PEM)
    (tmp_path / "me.key").write_text(KEY)
    (tmp_path / "ca.crt").write_text(PEM)
    files = {"client-certificate": "me.crt", "client-key": "me.key", "tokenFile": "token"}
    config = kubeconfig.load(written(tmp_path, files, **{"certificate-authority": "ca.crt"}))
    assert (config.client_certificate, config.client_key, config.ca) == (PEM, KEY, PEM)
    assert config.token_file == str(tmp_path / "token")


def test_the_file_named_by_the_environment_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, {"token": "t"})
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'none'}:{path}")
    assert kubeconfig.load().token == "t"
    monkeypatch.setenv("KUBECONFIG", "")

    assert kubeconfig.default_path() == Path.home() / ".kube" / "config"


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, {"token": "t"})
    with pytest.raises(KubeconfigError, match="no context 'nope'"):
        kubeconfig.load(path, "nope")
    with pytest.raises(KubeconfigError, match="no cluster 'missing'"):
        kubeconfig.load(path, "other")
    with pytest.raises(KubeconfigError, match="no base64"):
        kubeconfig.load(written(tmp_path, {}, **{"certificate-authority-data": "%%%"}))
    with pytest.raises(KubeconfigError, match="needs its key"):
        kubeconfig.load(written(tmp_path, {"client-certificate-data": b64(PEM)}))
    with pytest.raises(KubeconfigError, match="auth-provider"):
        kubeconfig.load(written(tmp_path, {"auth-provider": {"name": "gcp"}}))
    (tmp_path / "odd").write_text("{{{")
    with pytest.raises(KubeconfigError, match="no YAML"):
        kubeconfig.load(tmp_path / "odd")


def test_a_plugin_gives_a_token(tmp_path: Path) -> None:
    script = "import json, os; i = json.loads(os.environ['KUBERNETES_EXEC_INFO']); "
    script += "print(json.dumps({'status': {'token': os.environ['WHO'] + i['kind']}}))"
    plugin = {
        "command": sys.executable,
        "args": ["-c", script],
        "env": [{"name": "WHO", "value": "me-"}],
    }

    assert kubeconfig.load(written(tmp_path, {"exec": plugin})).token == "me-ExecCredential"
    with pytest.raises(KubeconfigError, match="gave no credential"):
        kubeconfig.load(written(tmp_path, {"exec": {**plugin, "args": ["-c", "1/0"]}}))


def test_the_files_of_a_pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(KubeconfigError, match="not in a cluster"):
        kubeconfig.in_cluster(tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    with pytest.raises(KubeconfigError, match=r"ca.crt"):
        kubeconfig.in_cluster(tmp_path)
    for name, text in (("ca.crt", PEM), ("token", "tok\n"), ("namespace", "red")):
        (tmp_path / name).write_text(text)
    config = kubeconfig.in_cluster(tmp_path)

    assert config.server == "https://[fd00::1]:443"
    assert (config.token, config.namespace) == ("tok", "red")


def test_what_cannot_be_a_server_is_refused() -> None:
    with pytest.raises(ValueError, match="http:// or https://"):
        ClientConfig("host:6443")
    with pytest.raises(ValueError, match="exclude each other"):
        ClientConfig("https://host", ca=PEM, insecure=True)


def test_tls_trusts_the_given_authority_and_presents_the_pair(tmp_path: Path) -> None:
    assert ClientConfig("http://host").ssl_context() is None
    context = ClientConfig("https://host", insecure=True).ssl_context()
    assert context is not None
    assert context.verify_mode is ssl.CERT_NONE
    with pytest.raises(ssl.SSLError):
        ClientConfig("https://host", client_certificate=PEM, client_key=KEY).ssl_context()
