"""The figures of the pages, measured again and written into them.

    python -m tests.benchmarks.refresh [--only controllers,servicediscovery,three_ways,informers]

Each takes some minutes, the machine for itself: what else runs is in the figures. What stands in
docs/performance.md comes from `python -m tests.benchmarks.run`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.servers import ROOT, running

DOCS = ROOT / "docs"


def written(text: str, mark: str, table: str) -> str:
    """The page with this table between its marks; raises ValueError if it has none."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no marks for {mark}")
    return f"{head}{begin}\n{table.strip()}\n{end}{tail}"


def module(name: str, *arguments: str) -> str:
    """What a program of the project prints."""
    done = subprocess.run(
        [sys.executable, "-m", name, *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    return done.stdout


def controllers() -> str:
    return module("tests.benchmarks.controllers", "--repeat", "3", "--markdown")


def servicediscovery() -> str:
    return module("tests.benchmarks.bench_servicediscovery")


def three_ways() -> str:
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), "--no-controllers") as server,
    ):
        done = subprocess.run(
            [
                sys.executable, str(ROOT / "manage.py"), "compare", "--url", server.url,
                "--token", server.token,
            ],
            cwd=folder, check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return done.stdout


def informers() -> str:
    return module("tests.informer.comparison")


FIGURES: dict[str, tuple[str, str, Callable[[], str]]] = {
    "controllers": ("controllers.md", "figures", controllers),
    "servicediscovery": ("service-discovery.md", "benchmark", servicediscovery),
    "three_ways": ("three-ways.md", "compare", three_ways),
    "informers": ("informer.md", "comparison", informers),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write each page as soon as its figures are there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default=",".join(FIGURES), metavar="NAME,NAME")
    for name in parser.parse_args(arguments).only.split(","):
        page, mark, measure = FIGURES[name]
        table = measure()
        path = DOCS / page
        path.write_text(written(path.read_text(), mark, table))
        print(f"{path.relative_to(ROOT)}: written", file=sys.stderr)


if __name__ == "__main__":
    main()
