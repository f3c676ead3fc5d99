"""Ours and the official Python client's informer through the same scenarios, for docs/informer.md.

`python -m tests.informer.comparison` runs them (about five minutes) and prints the table;
`python -m tests.benchmarks.refresh --only informers` writes it into the page.
"""

from __future__ import annotations

import importlib.metadata
import tempfile
from pathlib import Path

from tests.informer.proxy import proxied
from tests.informer.scenarios import OFFICIAL, OURS, SCENARIOS, Outcome, Scenario, play, serving


def main() -> None:
    """Run everything, and print a row as it ends."""
    version = importlib.metadata.version("kubernetes")
    print(f"| What happens | listwatch | kubernetes {version} (official) |")
    print("| --- | --- | --- |", flush=True)
    for scenario in SCENARIOS:
        outcomes = [_outcome(scenario, program) for program in (OURS, OFFICIAL)]
        cells = [_text(outcome, scenario) for outcome in outcomes]
        print(f"| {scenario.title} | {' | '.join(cells)} |", flush=True)


def _outcome(scenario: Scenario, program: str) -> Outcome | str:
    with tempfile.TemporaryDirectory() as folder:
        server = serving(Path(folder), scenario).start()
        try:
            with proxied(server.port) as proxy:
                return play(scenario, server, proxy, program)
        except Exception as error:
            return f"**ends**: {type(error).__name__}"
        finally:
            server.stop()


def _text(outcome: Outcome | str, scenario: Scenario) -> str:
    if isinstance(outcome, str):
        return outcome
    parts = []
    if outcome.cache_equal and outcome.handlers_equal:
        parts.append(f"equal after {outcome.seconds:.1f} s")
    else:
        what = outcome.missing or "handlers were not told"
        parts.append(f"**not equal** after {scenario.seconds:.0f} s: {what}")
    if outcome.illegal:
        parts.append(f"**illegal**: {'; '.join(outcome.illegal)}")
    if outcome.repeats:
        parts.append(f"{outcome.repeats} updates that tell nothing new")
    if "watches" in outcome.notes:
        parts.append(f"{outcome.notes['watches']} watch requests in 3 s")
    return ", ".join(parts)


if __name__ == "__main__":
    main()
