"""A registry on the real store, fed by the real pump, under a clock that is turned by hand."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import pytest

from listwatch.schemas.decoding import decode
from listwatch.schemas.defaults import apply_defaults
from listwatch.schemas.kinds import builtin_resources
from tests.postgres import postgres_url
from tests.registry.house import House, open_house

__all__ = ["postgres_url"]


@pytest.fixture(scope="session")
def facts() -> None:
    """The data files are read when they are first asked for: here, before any loop runs."""
    for resource in builtin_resources():
        document = {"kind": resource.kind, "apiVersion": resource.api_version}
        decode(resource.gvk, document)
        with contextlib.suppress(KeyError):
            apply_defaults(resource.gvk, document)


@pytest.fixture
async def house(facts: None, store: None) -> AsyncIterator[House]:
    async with open_house() as opened:
        yield opened
