"""The file that lets kubectl and every client library in: address, authority and token."""

from __future__ import annotations

import base64
from typing import Any

import yaml

NAME = "listwatch"  # of cluster, user and context


def kubeconfig(server: str, ca: bytes, token: str) -> str:
    """A kubeconfig with everything inline, so that the file may be copied elsewhere.

    It holds the admin's token: whoever writes it to a file sees to its mode.
    """
    document: dict[str, Any] = {  # Any: YAML values
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": NAME,
                "cluster": {
                    "server": server,
                    "certificate-authority-data": base64.b64encode(ca).decode(),
                },
            }
        ],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [
            {"name": NAME, "context": {"cluster": NAME, "user": "admin", "namespace": "default"}}
        ],
        "current-context": NAME,
    }
    return yaml.safe_dump(document, sort_keys=False)


def with_server(text: str, server: str) -> str:
    """The same kubeconfig for another address of the same server."""
    document = yaml.safe_load(text)
    for cluster in document["clusters"]:
        cluster["cluster"]["server"] = server
    return yaml.safe_dump(document, sort_keys=False)
