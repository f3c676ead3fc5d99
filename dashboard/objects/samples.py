"""Made-up objects for the patterns page, in the shapes of this room's pages."""

from __future__ import annotations

from typing import Any

from dashboard.copy_as import Copy

JSON = dict[str, Any]  # Any: JSON values

_YAML = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
"""


def everything(now: float) -> JSON:
    """What the patterns page shows of objects."""
    rows = (
        ("web-7c5d-8vxjp", "Running", "good"), ("web-7c5d-dgqm9", "ContainerCreating", "busy"),
        ("web-7c5d-lrgbf", "CrashLoopBackOff", "bad"), ("web-7c5d-x2x4k", "<none>", ""),
    )  # fmt: skip
    signs = (" spec:", "-  replicas: 3", "+  replicas: 4", "@", "   selector: {}")
    return {
        "objects": [
            {"name": name, "status": status, "state": state, "created": now - 125}
            for name, status, state in rows
        ],
        "yaml": _YAML,
        "conditions": [
            {"type": "Available", "status": "True", "message": "", "at": now - 65},
            {"type": "Progressing", "status": "False", "at": now - 3,
             "message": "ProgressDeadlineExceeded: the rollout stands still"},
            {"type": "Ready", "status": "Unknown", "message": "", "at": now - 900},
        ],
        "difference": [{"sign": line[0], "text": line[1:]} for line in signs],
        "tree": [
            {"kind": "Deployment", "name": "web", "depth": 0},
            {"kind": "ReplicaSet", "name": "web-7c5d", "depth": 1, "self": True},
            {"kind": "Pod", "name": "web-7c5d-8vxjp", "depth": 2, "state": "on its way out"},
        ],
        "copies": [Copy("kubectl", "kubectl get pods -A -w --output-watch-events")],
    }  # fmt: skip
