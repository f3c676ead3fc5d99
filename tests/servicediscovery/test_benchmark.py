"""The benchmark of discoveries runs, and shows what it is there to show."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_servicediscovery


@pytest.mark.timeout(120)
def test_informers_ask_for_nothing_when_something_changes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bench_servicediscovery.main(["--consumers", "10", "--changes", "4"])

    head, _, *rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()]
    ways = [row[1] for row in rows]
    asked = [float(row[head.index("requests a change")]) for row in rows]
    assert ways == list(bench_servicediscovery.WAYS)
    # Two of ten consumers listen to a service, and a bare watch lists for each.
    assert asked == [2.0, 0.0, 0.0]
