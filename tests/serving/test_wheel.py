"""What is installed from the wheel serves as a clone does."""

from __future__ import annotations

import contextlib
import http.client
import os
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import ROOT, free_port

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(folder), str(ROOT)],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return next(folder.glob("listwatch-*.whl"))


def test_the_wheel_has_all_that_is_not_python(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    for folder, inside in (("templates", "_templates"), ("static", "_static")):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                assert f"listwatch/{inside}/{path.relative_to(ROOT / folder)}" in names
    for path in (ROOT / "listwatch" / "schemas" / "data").iterdir():
        assert f"listwatch/schemas/data/{path.name}" in names
    assert "listwatch/py.typed" in names
    assert not any(name.startswith("tests/") for name in names)


@contextlib.contextmanager
def served(program: Path, folder: Path) -> Iterator[int]:
    port = free_port()
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DJANGO"))}
    process = subprocess.Popen(
        [str(program), "serve", "--port", str(port), "--secure-port", "0"],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        printed = [process.stdout.readline() for _ in range(3)]
        assert printed[0].startswith("Dashboard"), (printed, process.stdout.read())
        yield port
    finally:
        process.terminate()
        assert process.wait(20) == 0
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.external
def test_an_empty_environment_elsewhere_serves_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    installed = subprocess.run(
        [python, "-m", "pip", "install", "-q", str(wheel)],
        check=False, timeout=300, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    if installed.returncode and not os.environ.get("CI"):
        pytest.skip(f"the package index cannot be reached: {installed.stderr[-200:]}")
    assert installed.returncode == 0, installed.stderr
    begun = time.monotonic()
    with served(environment / "bin" / "listwatch", tmp_path) as port:
        assert time.monotonic() - begun < 10
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        for path, status in (
            ("/readyz", 200),
            ("/dashboard/login/", 200),
            ("/admin/login/", 200),
            ("/static/dashboard/tokens.css", 200),
            ("/static/admin/css/base.css", 200),
        ):
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            assert (path, answer.status) == (path, status), body[:500]
        connection.close()
        assert (tmp_path / ".listwatch" / "kubeconfig").is_file()
