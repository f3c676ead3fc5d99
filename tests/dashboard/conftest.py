from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from dashboard import access
from tests.dashboard.browser import Browser, allowed
from tests.dashboard.stage import Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
async def browser(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browser]:
    monkeypatch.setattr(access, "watching_user", allowed)
    made = Browser(stage)
    yield made
    await made.close()
