"""Nothing that was answered is lost, and no watch relists, whenever the server is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.durability.kill_points import run


@pytest.mark.timeout(240)
def test_twenty_kills_lose_no_write_and_no_event(tmp_path: Path) -> None:
    done = run(tmp_path, 20, seed=20)

    assert done.startswith("20 kills")
