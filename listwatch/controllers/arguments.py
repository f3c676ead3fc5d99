"""The arguments of a process of controllers, shared by `python -m` and `manage.py controllers`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from listwatch.controllers.options import ControllerOptions
from listwatch.informer import ClientConfig

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

TOKEN = "LISTWATCH_CONTROLLERS_TOKEN"  # noqa: S105 -- the name of a variable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add them all."""
    parser.add_argument("--server", metavar="URL", help="the API server; else the kubeconfig's")
    parser.add_argument("--kubeconfig", metavar="FILE", help="default $KUBECONFIG")
    parser.add_argument("--token-file", metavar="FILE", help=f"for --server; or ${TOKEN}")
    parser.add_argument(
        "--controllers", default="*", metavar="LIST",
        help="by commas: `*` for all, `name` for one, `-name` for all but one",
    )  # fmt: skip
    parser.add_argument("--nodes", type=int, default=3, help="how many the stand-in registers")
    parser.add_argument("--node-prefix", default="node-", metavar="TEXT", help="of their names")
    parser.add_argument("--node-cpu", default="16", metavar="CPU", help="that each node has")
    parser.add_argument("--node-memory", default="64Gi", metavar="SIZE", help="that each has")
    parser.add_argument("--node-pods", type=int, default=110, help="that each runs at most")
    parser.add_argument(
        "--speed", type=float, default=1.0, metavar="N",
        help="time passes so many times as fast: grace periods, back-offs, schedules",
    )  # fmt: skip
    parser.add_argument("--root-ca", metavar="FILE", help="the authority that pods shall trust")
    parser.add_argument(
        "--leader-elect", action="store_true", help="work only while no other process does"
    )  # fmt: skip


def options_of(given: Mapping[str, Any]) -> ControllerOptions:  # Any: parsed arguments
    """The options that were given; raises ValueError or OSError."""
    root_ca = Path(given["root_ca"]).read_text() if given["root_ca"] else ""
    return ControllerOptions(
        controllers=given["controllers"],
        nodes=given["nodes"],
        node_prefix=given["node_prefix"],
        node_cpu=given["node_cpu"],
        node_memory=given["node_memory"],
        node_pods=given["node_pods"],
        speed=given["speed"],
        root_ca=root_ca,
        lead=given["leader_elect"],
    )


def config_of(given: Mapping[str, Any]) -> ClientConfig:  # Any: parsed arguments
    """The server and the identity that were given; raises ValueError or OSError."""
    from listwatch.informer import kubeconfig

    if given["server"]:
        token = os.environ.get(TOKEN, "")
        if given["token_file"]:
            token = Path(given["token_file"]).read_text().strip()
        ca = Path(given["root_ca"]).read_text() if given["root_ca"] else ""
        return ClientConfig(given["server"], token=token, ca=ca)
    return kubeconfig.load(given["kubeconfig"])
