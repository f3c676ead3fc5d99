"""`runserver`: Daphne on plain HTTP, reloaded when code changes; for work on listwatch itself."""

from __future__ import annotations

import logging
from typing import Any

from daphne.management.commands.runserver import Command as DaphneCommand
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError, CommandParser

from listwatch.management.options import add_data
from listwatch.management.options import options as options_in_force
from listwatch.serving.backpressure import DevelopmentServer
from listwatch.serving.data_folder import AlreadyServedError
from listwatch.serving.preparing import prepared


class Command(DaphneCommand):  # type: ignore[misc]  # daphne ships no types
    """Django's `runserver` with Daphne's options, on a folder made ready as `serve` does it."""

    server_cls = DevelopmentServer

    def add_arguments(self, parser: CommandParser) -> None:
        """Those of Daphne's command, and the folder."""
        super().add_arguments(parser)
        add_data(parser)

    def check_migrations(self) -> None:
        """They have been run by then."""

    def inner_run(self, *args: Any, **options: Any) -> None:
        """Make ready, print the login link, serve."""
        logging.getLogger("daphne").setLevel(logging.WARNING)
        try:
            with prepared(options_in_force()) as ready:
                self.stdout.write(
                    f"Dashboard  http://{self.addr}:{self.port}/login/{ready.login_token}/"
                )
                super().inner_run(*args, **options)
        except (AlreadyServedError, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
