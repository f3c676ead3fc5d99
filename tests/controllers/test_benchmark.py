"""The benchmark of the controllers runs and tells what it is there to tell; no time is judged."""

from __future__ import annotations

import pytest

from tests.benchmarks import controllers
from tests.benchmarks.refresh import written


@pytest.mark.full
@pytest.mark.external
@pytest.mark.timeout(240)
def test_it_prints_a_row_for_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    controllers.main(["--pods", "6", "--large", "20", "--nodes", "2", "--markdown"])

    head, line, *rows = capsys.readouterr().out.splitlines()
    assert head == "| " + " | ".join(controllers.HEAD) + " |"
    assert set(line) <= set("| -:")
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert cells[-1][0] == "20 pods on 2 nodes"
    assert len(cells) == 10
    created = cells[1]
    # Each pod is created, bound and told to run, whatever else is written.
    assert int(created[controllers.HEAD.index("writes")].replace(",", "")) >= 6 * 3


def test_a_table_is_put_between_its_marks_and_nowhere_else() -> None:
    page = "# A\n<!-- x: begin -->\nold\n<!-- x: end -->\nafter\n"
    assert written(page, "x", "| new |\n") == (
        "# A\n<!-- x: begin -->\n| new |\n<!-- x: end -->\nafter\n"
    )
    with pytest.raises(ValueError, match="no marks for y"):
        written(page, "y", "")
