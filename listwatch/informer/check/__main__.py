"""The command: one line for each scenario, and a status that is 0 only if none failed."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from listwatch.informer import kubeconfig
from listwatch.informer.check import informers, protocol  # noqa: F401 -- they add their scenarios
from listwatch.informer.check.stage import (
    SCENARIOS,
    CheckFailedError,
    CheckSkippedError,
    Scenario,
    Stage,
)
from listwatch.informer.client import Client
from listwatch.informer.client_config import ClientConfig
from listwatch.informer.errors import ApiError, TransportError
from listwatch.informer.resources import NAMESPACES
from listwatch.protocol.clock import SystemClock

LIMIT = 120.0  # seconds for one scenario


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; returns the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.CRITICAL)
    try:
        config = _config(options)
    except (ValueError, OSError) as error:
        print(f"check: {error}", file=sys.stderr)
        return 2
    try:
        return asyncio.run(_run(config, options))
    except (ApiError, TransportError) as error:
        print(f"check: {config.server}: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m listwatch.informer.check", description=__doc__)
    parser.add_argument("--url", help="the API server, as https://127.0.0.1:6443")
    parser.add_argument("--token", default="", help="a bearer token")
    parser.add_argument("--certificate-authority", help="file with the CA of the server")
    parser.add_argument("--insecure", action="store_true", help="do not verify the server")
    parser.add_argument("--kubeconfig", help="take server and identity from this file")
    parser.add_argument("--context", default="", help="of the kubeconfig, if not its current one")
    parser.add_argument("--only", default="", help="scenarios whose title holds this text")
    parser.add_argument("--seed", type=int, default=None, help="of the random faults")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    return parser


def _config(options: argparse.Namespace) -> ClientConfig:
    if options.kubeconfig or not options.url:
        return kubeconfig.load(options.kubeconfig, options.context)
    ca = Path(options.certificate_authority).read_text() if options.certificate_authority else ""
    return ClientConfig(options.url, token=options.token, ca=ca, insecure=options.insecure)


async def _run(config: ClientConfig, options: argparse.Namespace) -> int:
    clock = SystemClock()
    seed = options.seed if options.seed is not None else int(clock.now() * 1000) % 1_000_000
    verdicts = []
    chosen = [each for each in SCENARIOS if options.only in each.title]
    async with Client(config) as client:
        name = f"listwatch-check-{seed}"
        await client.create(NAMESPACES, {"metadata": {"name": name}})
        try:
            stage = Stage(client, name, clock, Random(seed))  # noqa: S311 -- faults, no secrets
            for each in chosen:
                begun = clock.monotonic()
                verdict, why = await _verdict(each, stage)
                took = clock.monotonic() - begun
                verdicts.append(
                    {"title": each.title, "verdict": verdict, "why": why, "seconds": took}
                )
                if not options.json:
                    tail = f": {why}" if why else ""
                    print(f"{verdict:<7} {took:6.2f} s  {each.title}{tail}", flush=True)
        finally:
            await client.delete(NAMESPACES, name)
    failed = sum(verdict["verdict"] == "failed" for verdict in verdicts)
    if options.json:
        print(json.dumps({"server": config.server, "seed": seed, "scenarios": verdicts}, indent=2))
    else:
        print(f"{len(verdicts)} scenarios, {failed} failed (seed {seed})")
    return 1 if failed or not verdicts else 0


async def _verdict(each: Scenario, stage: Stage) -> tuple[str, str]:
    try:
        await stage.clear()
        async with asyncio.timeout(LIMIT):
            await each.run(stage)
    except CheckSkippedError as skipped:
        return "skipped", str(skipped)
    except CheckFailedError as failed:
        return "failed", str(failed)
    except (ApiError, TransportError) as error:
        return "failed", f"unexpected: {error}"
    except TimeoutError:
        return "failed", f"not done within {LIMIT:g} seconds"
    return "ok", ""


if __name__ == "__main__":
    sys.exit(main())
