"""What a process has used, as /proc tells it, for benchmarks that measure several at once."""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of processor time, and bytes of memory that are held."""

    cpu: float
    resident: int

    def since(self, before: Spent) -> Spent:
        """What was used after `before`; the memory is that of now."""
        return Spent(self.cpu - before.cpu, self.resident)

    @staticmethod
    def median(several: Sequence[Spent]) -> Spent:
        """The median of each."""
        cpu = statistics.median(each.cpu for each in several)
        return Spent(cpu, round(statistics.median(each.resident for each in several)))


def spent(process: int) -> Spent:
    """What a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return Spent((int(fields[11]) + int(fields[12])) / _TICKS, pages * os.sysconf("SC_PAGE_SIZE"))


def children_of(process: int, text: str) -> list[int]:
    """The children of a process whose command line has this text."""
    listed = subprocess.run(
        ["ps", "--ppid", str(process), "-o", "pid=,args="],
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    return [int(line.split()[0]) for line in listed.splitlines() if text in line]
