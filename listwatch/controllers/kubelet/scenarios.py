"""What the containers of a pod do: as its annotations say, else as its command lets one guess.

Annotations begin with `kubelet.listwatch.dev/`; docs/controllers.md has them all. Played by
`containers`.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from listwatch.controllers.references import controller_of
from listwatch.protocol.objects import JSONObject

PREFIX = "kubelet.listwatch.dev/"
JOB_SECONDS = 1.0  # a job's program of which nothing is known takes so long
_SHELLS = frozenset({"sh", "bash", "ash"})
_QUICK = frozenset({"true", ":", "echo", "printf", "date", "hostname", "env", "ls", "cat"})
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class Plan:
    """What one container does. Seconds."""

    start_seconds: float = 0.0  # until it runs
    ready_seconds: float = 0.0  # from then until it is ready
    run_seconds: float | None = None  # until it ends by itself; None: never
    exit_code: int = 0
    crashes: int | None = None  # so many runs end like that, later ones never; None: all do
    stop_seconds: float = 0.0  # it takes to stop when told to
    pull_fails: bool = False  # its image is not there
    never_ready: bool = False


def plan_of(pod: JSONObject, container: JSONObject) -> Plan:
    """The plan of one container. A value that cannot be read counts as not given."""
    given = {
        key.removeprefix(PREFIX): text
        for key, text in (pod["metadata"].get("annotations") or {}).items()
        if key.startswith(PREFIX)
    }
    seconds, code = guessed(container)
    owner = controller_of(pod)
    if seconds is None and owner is not None and owner.get("kind") == "Job":
        seconds = JOB_SECONDS
    run_seconds = _seconds(given.get("run-seconds"))
    exit_code = _number(given.get("exit-code"))
    if run_seconds is None and exit_code is not None:
        run_seconds = seconds or 0.0
    probe = container.get("readinessProbe") or {}
    ready = _seconds(given.get("ready-seconds"))
    return Plan(
        start_seconds=_seconds(given.get("start-seconds")) or 0.0,
        ready_seconds=float(probe.get("initialDelaySeconds") or 0) if ready is None else ready,
        run_seconds=seconds if run_seconds is None else run_seconds,
        exit_code=code if exit_code is None else exit_code,
        crashes=_number(given.get("crashes")),
        stop_seconds=_seconds(given.get("stop-seconds")) or 0.0,
        pull_fails=given.get("pull-fails") == "true",
        never_ready=given.get("never-ready") == "true",
    )


def guess_of(container: JSONObject) -> Plan:
    """The plan of a container that no annotation is about."""
    seconds, code = guessed(container)
    return Plan(run_seconds=seconds, exit_code=code)


def guessed(container: JSONObject) -> tuple[float | None, int]:
    """How long its command takes, and how it ends: understood are sleep, exit, true and the like.

    (None, 0) for one that is not understood: it runs on.
    """
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    if not words:
        return None, 0
    if words[0].rpartition("/")[2] in _SHELLS:
        if len(words) < 3 or not words[1].startswith("-") or not words[1].endswith("c"):
            return None, 0
        return _script(words[2])
    result = _statement(words)
    return (None, 0) if result is None else result[:2]


def _script(text: str) -> tuple[float | None, int]:
    total, code = 0.0, 0
    for part in re.split(r"\s*(?:;|&&|\n)\s*", text.strip()):
        try:
            words = shlex.split(part)
        except ValueError:
            return None, 0
        if not words:
            continue
        result = _statement(words)
        if result is None or result[0] is None:
            return None, 0
        total += result[0]
        code = result[1]
        if result[2]:
            break
    return total, code


def _statement(words: list[str]) -> tuple[float | None, int, bool] | None:
    """Seconds, exit code, and whether it ends the script; None if it is not understood."""
    name, rest = words[0].rpartition("/")[2], words[1:]
    if name == "sleep" and len(rest) == 1:
        found = _SECONDS.fullmatch(rest[0])
        if found is None:
            return None  # sleep infinity
        return float(found[1]) * _UNITS[found[2]], 0, False
    if name == "exit":
        code = int(rest[0]) % 256 if rest and rest[0].isdecimal() else 0
        return 0.0, code, True
    if name == "false":
        return 0.0, 1, False
    return (0.0, 0, False) if name in _QUICK else None


def _seconds(text: str | None) -> float | None:
    found = _SECONDS.fullmatch(text or "")
    return None if found is None else float(found[1]) * _UNITS[found[2]]


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None
