"""What a real API server answered, asked of ours: scenario by scenario."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import postgres
from tests.golden import replay
from tests.servers import Server, running

HERE = Path(__file__).parent
# These want a server that has forgotten its first versions.
FORGETFUL = ("list-28-rv-exact-too-old.json", "list-29-continue-expired.json")
JOBS = 6  # scenarios at once: the windows in which watches are read are real time
VARIABLES = {"limited": "limitedtoken"}  # the token of a user who may do nothing
RECORDED_WITHOUT_CONTROLLERS = {
    "LISTWATCH_NAMESPACE_CONTROLLER": "false",
    "LISTWATCH_SERVICE_ACCOUNT_ADMISSION": "false",
}

PLACES = ("serve", "runserver", "serve on PostgreSQL")
LONG_RUN = partial(pytest.param, marks=pytest.mark.full)

Results = dict[str, tuple[int, int, str]]


def named(listing: str) -> list[str]:
    return [name for name in (HERE / listing).read_text().split() if name not in FORGETFUL]


def play(server: Server, names: list[str]) -> Results:
    client = replay.Client(server.url, server.token)  # type: ignore[no-untyped-call]

    def one(name: str) -> tuple[int, int, str]:
        transcript: Any = json.loads((HERE / "transcripts" / name).read_text())
        return replay.check_scenario(client, transcript, VARIABLES, True)  # type: ignore[no-any-return, no-untyped-call]

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return dict(zip(names, pool.map(one, names), strict=True))


@pytest.fixture(scope="module", params=PLACES)
def core(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("golden")
    with placed(request.param, folder, **RECORDED_WITHOUT_CONTROLLERS) as server:
        return play(server, named("core.txt"))


@pytest.fixture(scope="module", params=["serve", *map(LONG_RUN, PLACES[1:])])
def passing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("golden")
    tokens = folder / "tokens.csv"
    tokens.write_text("limitedtoken,limited,1,testers\n")
    known = {"LISTWATCH_TOKEN_AUTH_FILE": str(tokens)}
    with placed(request.param, folder, **RECORDED_WITHOUT_CONTROLLERS, **known) as server:
        return play(server, named("passing.txt"))


@contextlib.contextmanager
def placed(place: str, folder: Path, **environment: str) -> Iterator[Server]:
    """A server of a command, `on` a database if that is not SQLite."""
    command, _, database = place.partition(" on ")
    with contextlib.ExitStack() as stack:
        if database:
            environment["LISTWATCH_DATABASE_URL"] = stack.enter_context(postgres.running()).url()
        yield stack.enter_context(running(folder, command=command, **environment))


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    short = {
        "LISTWATCH_COMPACTION_AGE": "0.5",
        "LISTWATCH_COMPACTION_INTERVAL": "0.2",
        "LISTWATCH_RING_MINIMUM": "2",
        "LISTWATCH_RING_MAXIMUM": "2",
    }
    folder = tmp_path_factory.mktemp("forgetful")
    with running(folder, **RECORDED_WITHOUT_CONTROLLERS, **short) as server:
        for number in range(4):
            made = {"metadata": {"name": f"c{number}"}}
            server.json("POST", "/api/v1/namespaces/default/configmaps", made)
        path = "/api/v1/configmaps?resourceVersion=1&resourceVersionMatch=Exact"
        deadline = time.monotonic() + 20
        while server.get(path)[0] != 410:
            assert time.monotonic() < deadline, "nothing is forgotten"
            time.sleep(0.1)
        yield server


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", named("core.txt"))
def test_the_core_answers_as_the_real_server(core: Results, name: str) -> None:
    passed, failed, report = core[name]

    assert (passed > 0, failed) == (True, 0), report


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", named("passing.txt"))
def test_more_kinds_answer_as_the_real_server(passing: Results, name: str) -> None:
    passed, failed, report = passing[name]

    assert (passed > 0, failed) == (True, 0), report


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", FORGETFUL)
def test_what_is_forgotten_is_refused_as_the_real_server_does(forgetful: Server, name: str) -> None:
    passed, failed, report = play(forgetful, [name])[name]

    assert (passed > 0, failed) == (True, 0), report
