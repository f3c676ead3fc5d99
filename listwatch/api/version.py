"""`/version`: which Kubernetes this speaks like, and who is speaking."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import TYPE_CHECKING

from listwatch.api.responses import KubernetesResponse
from listwatch.api.views import KubernetesView
from listwatch.protocol.objects import JSONObject

if TYPE_CHECKING:
    from rest_framework.request import Request

# The API that is served is this version's; clients compare it with their own (kubectl warns when
# the minors are more than one apart) and choose features by it.
MAJOR, MINOR, PATCH = "1", "36", "2"


@cache
def version_document() -> JSONObject:
    """What is answered. `gitVersion` carries our own version behind the API's."""
    try:
        own = installed("listwatch")
    except PackageNotFoundError:
        own = "0"
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return {
        "major": MAJOR,
        "minor": MINOR,
        "emulationMajor": MAJOR,
        "emulationMinor": MINOR,
        "minCompatibilityMajor": MAJOR,
        "minCompatibilityMinor": str(int(MINOR) - 1),
        "gitVersion": f"v{MAJOR}.{MINOR}.{PATCH}+listwatch-{own}",
        "gitCommit": "",
        "gitTreeState": "archive",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{platform.python_version()}",
        "compiler": platform.python_implementation(),
        "platform": f"{platform.system().lower()}/{machine}",
    }


class VersionView(KubernetesView):
    """The version document, always indented."""

    async def get(self, request: Request) -> KubernetesResponse:
        """The version of the API and of the server."""
        self.plain.query.setdefault("pretty", ["1"])
        return KubernetesResponse(version_document())
