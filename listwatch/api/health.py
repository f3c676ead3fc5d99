"""`/healthz`, `/livez` and `/readyz`: whether the server lives, and whether to send it requests.

Each is a list of named checks; `?verbose` shows them, `?exclude=name` leaves one out, and
`/livez/{name}` asks one alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.api.index import NOT_FOUND
from listwatch.api.renderers import TextRenderer
from listwatch.api.responses import KubernetesResponse
from listwatch.api.views import KubernetesView

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rest_framework.request import Request

    from listwatch.runtime import Runtime

Check = "Callable[[Runtime], bool]"


def _ping(runtime: Runtime) -> bool:
    return True


def _ready(runtime: Runtime) -> bool:
    return runtime.ready


LIVE: Mapping[str, Callable[[Runtime], bool]] = {"ping": _ping}
# Red first when the server stops, so that nobody sends it new requests.
READY: Mapping[str, Callable[[Runtime], bool]] = {"ping": _ping, "watch-cache": _ready}
CHECKS = {"healthz": READY, "livez": LIVE, "readyz": READY}


class HealthView(KubernetesView):
    """One of the three; any method asks it."""

    renderer_classes = (TextRenderer,)

    async def get(self, request: Request) -> KubernetesResponse:
        """200 and `ok`, or 500 and what failed."""
        parts = self.plain.info.path.strip("/").split("/")
        checks, runtime = CHECKS[parts[0]], self.plain.services.runtime
        if len(parts) > 1:
            return _one("/".join(parts[1:]), checks, runtime)
        response = _all(parts[0], checks, runtime, self.plain.query)
        response["X-Content-Type-Options"] = "nosniff"
        return response

    head = post = put = patch = delete = options = get  # type: ignore[assignment]


def _one(
    name: str, checks: Mapping[str, Callable[[Runtime], bool]], runtime: Runtime
) -> KubernetesResponse:
    check = checks.get(name)
    if check is None:
        return KubernetesResponse(NOT_FOUND, status=404)
    if check(runtime):
        return KubernetesResponse("ok")
    return KubernetesResponse("internal server error: not ready\n", status=500)


def _all(
    name: str,
    checks: Mapping[str, Callable[[Runtime], bool]],
    runtime: Runtime,
    query: Mapping[str, list[str]],
) -> KubernetesResponse:
    excluded = dict.fromkeys(
        part for value in query.get("exclude", ()) for part in value.split(",")
    )
    lines, healthy = [], True
    for check, works in checks.items():
        if check in excluded:
            del excluded[check]
            lines.append(f"[+]{check} excluded: ok\n")
        elif works(runtime):
            lines.append(f"[+]{check} ok\n")
        else:
            healthy = False
            lines.append(f"[-]{check} failed: reason withheld\n")
    if excluded:
        names = ", ".join(f'"{check}"' for check in sorted(excluded))
        lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
    text = "".join(lines)
    if not healthy:
        return KubernetesResponse(f"{text}{name} check failed\n", status=500)
    return KubernetesResponse(f"{text}{name} check passed\n" if "verbose" in query else "ok")
