"""What our own OpenAPI documents promise is asked for, drawn from their schemas by schemathesis.

The requests of `test_requests` are mostly refused at the door; these come further in.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis.core.result import Ok

from tests.fuzz.test_requests import all_is_well
from tests.fuzz.wire import HANG_SECONDS
from tests.servers import Server, running

Operation = Any  # schemathesis names no type for what its schemas hold
# An answer that has no end is a watch or a log that is followed: its head is enough.
ENDLESS = {"watch", "follow"}


@pytest.fixture(scope="module")
def documented(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of these tests alone: they delete what others count on."""
    with running(tmp_path_factory.mktemp("documented")) as made:
        yield made


def operations(server: Server) -> list[Operation]:
    """Every operation of every document, in an order that is the same each time."""
    found: list[Operation] = []
    paths = server.json("GET", "/openapi/v3")["paths"]
    assert len(paths) > 15
    for each in sorted(paths):
        document = server.json("GET", paths[each]["serverRelativeURL"])
        schema = schemathesis.openapi.from_dict(document)
        for result in schema.get_all_operations():
            assert isinstance(result, Ok), result  # or our document is at fault
            found.append(result.ok())
    random.Random(4).shuffle(found)
    return found


def answer_once(server: Server, operation: Operation, examples: int) -> None:
    """Requests drawn for one operation; fails with the smallest that the server fails at."""

    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(operation.as_strategy())
    def ask(case: Any) -> None:
        sent = case.as_transport_kwargs(
            base_url=server.url, headers={"Authorization": f"Bearer {server.token}"}
        )
        with requests.request(**sent, timeout=HANG_SECONDS, stream=True) as answer:
            endless = ENDLESS & set(case.query or {}) and answer.status_code == 200
            body = b"" if endless else answer.content
            allowed = answer.status_code in (503, 504) and b'"kind":"Status"' in body
            assert answer.status_code < 500 or allowed, (sent, answer.status_code, body[:500])

    ask()


def run(server: Server, seconds: float, examples: int) -> int:
    """Operations asked in so many seconds. Fails with every fault that was found."""
    faults: list[str] = []
    end = time.monotonic() + seconds
    number = 0
    for operation in operations(server):
        if time.monotonic() > end or len(faults) > 10:
            break
        number += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # hypothesis and schemathesis on their own ways
                answer_once(server, operation, examples)
        except Exception as error:
            faults.append(f"{operation.label}: {str(error)[:1500]}")
    assert not faults, "\n".join(faults)
    return number


@pytest.mark.timeout(300)
def test_what_the_openapi_documents_describe_never_makes_the_server_fail_or_hang(
    documented: Server,
) -> None:
    assert run(documented, seconds=120, examples=2) > 20
    all_is_well(documented)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_a_long_run_through_the_openapi_documents_finds_nothing_either(documented: Server) -> None:
    assert run(documented, seconds=1200, examples=20) > 100
    all_is_well(documented)
