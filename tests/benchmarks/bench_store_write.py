"""What a write costs the store: CPU, latency, and how many share a commit.

    .venv/bin/python -m tests.benchmarks.bench_store_write [--writes 4000] [--clients 1 8 32 128]

Updates of objects of 1.3 KB by clients that each wait for their answer, on a SQLite file in a
temporary folder, or on LISTWATCH_DATABASE_URL. CPU is of the whole process: the clients, the event
loop and the committing thread. Aim: under 150 us at 8 clients and more, on SQLite.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from dataclasses import dataclass

OBJECTS = 512
PADDING = "x" * 1200


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table."""

    clients: int
    cpu: float  # microseconds a write
    rate: float  # writes a second
    p50: float  # milliseconds from submit to answer
    p99: float
    shared: float  # writes a commit
    committing: float  # part of the time that was spent in COMMIT


async def measure(clients: int, writes: int) -> Result:
    """Update for a while with so many clients."""
    from listwatch.store import reads
    from listwatch.store.group_commit import GroupCommitter
    from listwatch.store.readers import Readers
    from listwatch.store.writes import Update
    from tests.store.helpers import PODS, body, create

    committer, readers = GroupCommitter(), Readers(size=1)
    committer.start()
    readers.start()
    prefix = f"c{clients}-"
    await asyncio.gather(*(committer.submit(create(f"{prefix}{n}")) for n in range(OBJECTS)))
    stored = await readers.run(lambda: list(reads.objects(PODS)))
    revisions = {s.name: s.revision for s in stored if s.name.startswith(prefix)}
    latencies: list[float] = []
    before = committer.statistics()

    async def client(number: int) -> None:
        for n in range(writes // clients):
            name = f"{prefix}{(n * clients + number) % OBJECTS}"
            encoded = body(name, n=n, padding=PADDING)
            operation = Update(PODS, "ns", name, revisions[name], encoded)
            begun = time.perf_counter()
            revisions[name] = (await committer.submit(operation)).revision
            latencies.append(time.perf_counter() - begun)

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(clients)))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    after = committer.statistics()
    await asyncio.to_thread(committer.stop)
    await asyncio.to_thread(readers.stop)
    latencies.sort()
    count = len(latencies)
    return Result(
        clients,
        cpu / count * 1e6,
        count / wall,
        latencies[count // 2] * 1e3,
        latencies[count * 99 // 100] * 1e3,
        count / (after.groups - before.groups),
        (after.commit_seconds - before.commit_seconds) / wall,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=int, default=4000)
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 8, 32, 128])
    arguments = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "listwatch.settings"
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("LISTWATCH_DATA", folder)
        import django
        from django.core.management import call_command
        from django.db import connection

        django.setup()
        call_command("migrate", verbosity=0, skip_checks=True)
        print(f"{connection.vendor}, updates of 1.3 KB")
        titles = ("clients", "cpu us", "per s", "p50 ms", "p99 ms", "shared", "commit")
        print("".join(f"{title:>8}" for title in titles))
        for clients in arguments.clients:
            each = asyncio.run(measure(clients, arguments.writes))
            figures = (
                f"{each.clients}", f"{each.cpu:.0f}", f"{each.rate:.0f}", f"{each.p50:.2f}",
                f"{each.p99:.2f}", f"{each.shared:.1f}", f"{each.committing:.0%}",
            )  # fmt: skip
            print("".join(f"{figure:>8}" for figure in figures))


if __name__ == "__main__":
    main()
