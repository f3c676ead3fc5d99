from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.registry.conftest import facts
from tests.registry.custom_resources.house import CustomHouse, open_custom_house

__all__ = ["facts"]


@pytest.fixture
async def custom(facts: None, store: None) -> AsyncIterator[CustomHouse]:
    async with open_custom_house() as opened:
        yield opened
