"""`kubeconfig`: the file that lets kubectl in, for pipes and for other addresses."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from listwatch.management.options import add_data, data_folder
from listwatch.serving.kubeconfig import with_server


class Command(BaseCommand):
    """Prints DIR/kubeconfig, which `serve` wrote; it holds the admin's token."""

    help = "Print the kubeconfig of a server."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The folder, and another address for the same server."""
        add_data(parser)
        parser.add_argument(
            "--server", metavar="URL", help="the address to put in, such as one of a forwarded port"
        )  # fmt: skip

    def handle(self, *args: Any, **given: Any) -> None:
        """Print it."""
        path = data_folder().kubeconfig
        if not path.is_file():
            raise CommandError(f"{path} is not there: `serve` writes it when it starts")
        text = path.read_text()
        self.stdout.write(with_server(text, given["server"]) if given["server"] else text)
