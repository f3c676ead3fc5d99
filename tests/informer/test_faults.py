"""An informer that is a process of its own, a real server, and what networks do between them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.informer.proxy import Proxy, proxied
from tests.informer.scenarios import (
    OURS,
    SCENARIOS,
    Scenario,
    play,
    serving,
    silence,
    split_characters,
)
from tests.servers import Server

Servers = dict[str, tuple[Server, Proxy]]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """One server for each environment, with a proxy before it, made when first asked for."""
    made: Servers = {}
    proxies = []
    for scenario in SCENARIOS:
        key = str(scenario.environment)
        if key not in made:
            server = serving(tmp_path_factory.mktemp("faults"), scenario).start()
            proxies.append(proxied(server.port))
            made[key] = (server, proxies[-1].__enter__())
    yield made
    for proxy in proxies:
        proxy.__exit__(None, None, None)
    for server, _ in made.values():
        server.stop()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.title)
def test_the_cache_ends_equal_to_the_server(scenario: Scenario, servers: Servers) -> None:
    server, proxy = servers[str(scenario.environment)]
    outcome = play(scenario, server, proxy, OURS)

    assert outcome.missing == ""
    assert outcome.cache_equal
    assert outcome.handlers_equal
    assert outcome.illegal == ()
    assert outcome.repeats == 0  # nobody is told what has not changed
    if scenario.act is silence:
        assert outcome.state["silences"] >= 1
    if scenario.act is split_characters:
        assert outcome.state["data"]["kept"]["text"] == "変更😀" * 40
    if "watches" in outcome.notes:
        assert outcome.notes["watches"] < 20
