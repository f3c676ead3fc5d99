"""`/debug/faults`: faults put in, seen and lifted, by whoever may; for tests of clients above all.

The paths are no resources, so the verbs are those of HTTP: a role allows them as
`nonResourceURLs: ["/debug/faults", "/debug/faults/*"]` with `get`, `post` and `delete`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from listwatch.api.responses import KubernetesResponse
from listwatch.api.views import KubernetesView
from listwatch.faults import FaultSpec
from listwatch.protocol.errors import StatusError

if TYPE_CHECKING:
    from rest_framework.request import Request

    from listwatch.api.parsers import Body
    from listwatch.faults import Faults
    from listwatch.registry.context import UserInfo
    from listwatch.runtime import Runtime

PATH = "/debug/faults"


def faults_of(runtime: Runtime) -> Faults:
    """The server's faults; raises 404 where they are off."""
    if runtime.faults is None:
        message = "faults are off on this server: start it with `serve --faults`"
        raise StatusError(404, "NotFound", message, details={"kind": "faults"})
    return runtime.faults


class FaultsView(KubernetesView):
    """All of them: GET lists, POST begins one, DELETE lifts those that are on."""

    async def get(self, request: Request) -> KubernetesResponse:
        """A FaultList: those that are on, oldest first, then those that are over, newest first."""
        faults = faults_of(self.plain.services.runtime)
        items = [fault.to_dict() for fault in (*faults.active(), *faults.over())]
        return KubernetesResponse(
            {"kind": "FaultList", "apiVersion": "debug.listwatch.dev/v1", "items": items}
        )

    async def post(self, request: Request) -> KubernetesResponse:
        """Begin one: 201 with the Fault, 422 with a cause for each field that is wrong."""
        faults = faults_of(self.plain.services.runtime)
        body = cast("Body", request.data)
        spec = FaultSpec.read(body.document)
        user = cast("UserInfo", request.user)
        fault = await faults.inject(spec, by=user.name)
        return KubernetesResponse(fault.to_dict(), status=201)

    async def delete(self, request: Request) -> KubernetesResponse:
        """Lift all."""
        faults_of(self.plain.services.runtime).lift_all()
        return _success()


class FaultView(KubernetesView):
    """One of them: GET shows it, DELETE lifts it."""

    async def get(self, request: Request) -> KubernetesResponse:
        """The Fault, also when it is over; 404 when it is forgotten."""
        number = _number(self.plain.info.path)
        faults = faults_of(self.plain.services.runtime)
        fault = faults.find(number)
        if fault is None:
            faults.lift(number)  # which says so
            raise AssertionError("a fault that is not found can be lifted")
        return KubernetesResponse(fault.to_dict())

    async def delete(self, request: Request) -> KubernetesResponse:
        """Lift it; 404 if it is not on."""
        faults_of(self.plain.services.runtime).lift(_number(self.plain.info.path))
        return _success()


def _number(path: str) -> int:
    name = path.rstrip("/").rpartition("/")[2]
    return int(name) if name.isascii() and name.isdigit() and len(name) < 16 else 0


def _success() -> KubernetesResponse:
    return KubernetesResponse(
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 200}
    )
