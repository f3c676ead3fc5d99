"""The house keeps its floors: import rules, and files that hold one idea."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 400
WHOLE = {"tests/golden/replay.py"}  # one program in one file, so that it can be carried elsewhere
SOURCES = sorted(
    path
    for folder in ("listwatch", "dashboard", "tests", "static", "templates")
    for suffix in ("py", "js", "css", "html")
    for path in (ROOT / folder).rglob(f"*.{suffix}")
)


@pytest.mark.timeout(120)
def test_every_import_goes_to_a_floor_below() -> None:
    # In a process of its own: it caches by folder and prints to the terminal.
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout


def test_no_file_is_longer_than_one_idea() -> None:
    assert SOURCES
    long = {
        str(path.relative_to(ROOT)): lines
        for path in SOURCES
        if (lines := len(path.read_text().splitlines())) > MOST_LINES
        and str(path.relative_to(ROOT)) not in WHOLE
    }

    assert long == {}


def test_every_module_of_the_house_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if path.suffix == ".py"
        and path.is_relative_to(ROOT / "listwatch")
        and "migrations" not in path.parts
        and not ast.get_docstring(ast.parse(path.read_text()))
    ]

    assert silent == []
