"""Programs that give credentials: the `exec` users of kubeconfig files.

Read by `kubeconfig`, run again by `credentials` when what they gave has run out.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from listwatch.informer.errors import TransportError
from listwatch.protocol.clock import parse_rfc3339

VERSION = "client.authentication.k8s.io/v1"
SECONDS = 60.0  # that a program may take


class CredentialError(TransportError):
    """A program gave no credential, so nothing could be asked; says which and why."""


@dataclass(frozen=True, slots=True)
class ExecCredential:
    """What a program gave; PEM text. `expires_at` in seconds since 1970, None for no end."""

    token: str = field(default="", repr=False)
    certificate: str = ""
    key: str = field(default="", repr=False)
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """One program as a kubeconfig names it; environment and arguments may hold secrets."""

    command: str
    arguments: tuple[str, ...] = field(default=(), repr=False)
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    version: str = VERSION
    cluster: str = ""  # JSON of the cluster it is asked for, if it wants to know
    hint: str = ""  # how to install it

    @staticmethod
    def of(entry: Mapping[str, Any], folder: Path, cluster: Mapping[str, Any]) -> ExecPlugin:
        """The program of a kubeconfig's user; raises ValueError for one that must ask a person."""
        command = str(entry.get("command") or "")
        if not command:
            raise ValueError("an exec user names a command")
        if entry.get("interactiveMode") == "Always":
            raise ValueError(f"the plugin {command!r} wants to ask a person, and none is here")
        if os.sep in command:  # seen from the file; a bare name is found on PATH
            command = str(folder / command)
        return ExecPlugin(
            command,
            tuple(str(each) for each in entry.get("args") or ()),
            tuple((item["name"], item["value"]) for item in entry.get("env") or ()),
            str(entry.get("apiVersion") or VERSION),
            _cluster_info(cluster) if entry.get("provideClusterInfo") else "",
            str(entry.get("installHint") or ""),
        )

    def run(self) -> ExecCredential:
        """Run it, and wait for what it gives; raises CredentialError. Blocks."""
        spec: dict[str, Any] = {"interactive": False}
        if self.cluster:
            spec["cluster"] = json.loads(self.cluster)
        info = {"kind": "ExecCredential", "apiVersion": self.version, "spec": spec}
        environment = {**os.environ, **dict(self.environment)}
        environment["KUBERNETES_EXEC_INFO"] = json.dumps(info)
        try:
            done = subprocess.run(
                [self.command, *self.arguments], env=environment, capture_output=True, check=True,
                timeout=SECONDS, text=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            return self._read(json.loads(done.stdout))
        except subprocess.CalledProcessError as error:
            why = f"status {error.returncode}: {str(error.stderr).strip()[-500:]}"
        except FileNotFoundError:
            why = f"no such program. {self.hint}".strip()
        except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
            why = str(error) or type(error).__name__
        raise CredentialError(f"the plugin {self.command!r} gave no credential: {why}")

    def _read(self, document: Any) -> ExecCredential:  # Any: whatever it printed
        version = document.get("apiVersion") or self.version
        if version != self.version:
            raise ValueError(f"it speaks {version}, and was asked in {self.version}")
        status = document["status"]
        found = ExecCredential(
            str(status.get("token") or ""),
            str(status.get("clientCertificateData") or ""),
            str(status.get("clientKeyData") or ""),
            _time(status.get("expirationTimestamp")),
        )
        if bool(found.certificate) != bool(found.key):
            raise ValueError("a certificate needs its key, and a key its certificate")
        if not found.token and not found.certificate:
            raise ValueError("neither a token nor a certificate")
        return found


def _time(text: Any) -> float | None:  # Any: a JSON value
    return parse_rfc3339(str(text)) if text else None


def _cluster_info(cluster: Mapping[str, Any]) -> str:
    known = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data",
             "proxy-url")  # fmt: skip
    info = {name: cluster[name] for name in known if cluster.get(name)}
    for extension in cluster.get("extensions") or ():
        if extension.get("name") == "client.authentication.k8s.io/exec":
            info["config"] = extension.get("extension")
    return json.dumps(info)
