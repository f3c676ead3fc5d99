"""`compare`: polling, long polling and watching beside each other, on a server that runs."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from listwatch.informer import ClientConfig, kubeconfig
from listwatch.informer.errors import ApiError, TransportError
from listwatch.informer.three_ways import WAYS, Options, Record, measure
from listwatch.management.options import add_data, data_folder

DEFAULTS = Options()
HEADS = (
    "way", "clients", "changes/s", "requests", "a change", "bytes", "a change",
    "delay ms", "p99", "most", "unseen",
)  # fmt: skip


class Command(BaseCommand):
    """Measures delay, requests and bytes of three ways to follow changes, as both grow.

    Against the server of the data folder, or any other. Works in a namespace that it removes.
    """

    help = "Compare polling, long polling and watching on a running server."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """What to measure, and where."""
        add_data(parser)
        parser.add_argument("--url", help="another server; with --token")
        parser.add_argument("--token", default="", help="a bearer token for --url")
        parser.add_argument(
            "--insecure", action="store_true", help="do not verify the certificate of --url"
        )
        parser.add_argument(
            "--clients", type=_integers, default=DEFAULTS.clients, metavar="N,N",
            help="numbers of clients; default 1,10,100",
        )  # fmt: skip
        parser.add_argument(
            "--rates", type=_floats, default=DEFAULTS.rates, metavar="R,R",
            help="changes a second; default 1,10",
        )  # fmt: skip
        parser.add_argument(
            "--changes", type=int, default=DEFAULTS.changes, metavar="N", help="of each run"
        )
        parser.add_argument(
            "--objects", type=int, default=DEFAULTS.objects, metavar="N",
            help="that there are, and a poll lists",
        )  # fmt: skip
        parser.add_argument(
            "--interval", type=float, default=DEFAULTS.interval, metavar="SECONDS",
            help="between two polls of a client",
        )  # fmt: skip
        parser.add_argument(
            "--ways", type=lambda text: tuple(text.split(",")), default=DEFAULTS.ways,
            metavar="WAY,WAY", help=f"of {', '.join(WAYS)}; default all",
        )  # fmt: skip
        parser.add_argument("--json", action="store_true", help="a record a line, for programs")

    def handle(self, *args: Any, **given: Any) -> None:
        """Measure, and print a line for each run as it ends."""
        names = ("clients", "rates", "changes", "objects", "interval", "ways")
        try:
            options = Options(**{name: given[name] for name in names})
            config = _config(given)
        except (ValueError, OSError) as error:
            raise CommandError(str(error)) from error
        try:
            asyncio.run(self._measure(config, options, as_json=given["json"]))
        except (ApiError, TransportError) as error:
            raise CommandError(f"{config.server}: {error}") from error

    async def _measure(self, config: ClientConfig, options: Options, *, as_json: bool) -> None:
        if not as_json:
            self.stdout.write("| " + " | ".join(HEADS) + " |")
            self.stdout.write("| --- |" + " ---: |" * (len(HEADS) - 1))
        async for record in measure(config, options):
            self.stdout.write(json.dumps(asdict(record)) if as_json else _row(record))
            self.stdout.flush()


def _config(given: dict[str, Any]) -> ClientConfig:
    if given["url"]:
        return ClientConfig(given["url"], token=given["token"], insecure=given["insecure"])
    path = data_folder().kubeconfig
    if not path.exists():
        raise ValueError(f"there is no {path}: start `serve`, or name a server by --url")
    return kubeconfig.load(path)


def _row(record: Record) -> str:
    cells = (
        record.way, record.clients, f"{record.rate:g}", f"{record.requests:,}",
        f"{record.requests_per_change:.2f}", f"{record.received:,}",
        f"{record.bytes_per_change:,.0f}", f"{record.delay_median * 1000:,.1f}",
        f"{record.delay_p99 * 1000:,.1f}", f"{record.delay_most * 1000:,.1f}",
        f"{record.unseen:,}",
    )  # fmt: skip
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def _floats(text: str) -> tuple[float, ...]:
    return tuple(float(each) for each in text.split(","))
