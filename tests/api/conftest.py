from __future__ import annotations

import pytest

from listwatch import metrics
from listwatch.api.version import version_document
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas import facts, openapi


@pytest.fixture(scope="session", autouse=True)
def _facts_are_read() -> None:
    """Data files are read at their first use, which a test of a loop that never blocks forbids."""
    version_document()
    facts.resource_facts()
    facts.message("")
    facts.schema_name(GroupVersionKind("", "v1", "ConfigMap"))
    openapi.openapi_v2()
    openapi.openapi_v3_index()
    assert metrics.__doc__
