"""The command line: Django's management commands under the name `listwatch` as well.

Here belong the commands and nothing they do; what a command does lives in the package it is about.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from listwatch import conf

# Options of commands that are options of the whole process: settings read them before a command
# sees its arguments, and so does every process that a command starts.
VALUES = {"--data": "LISTWATCH_DATA", "--token-auth-file": "LISTWATCH_TOKEN_AUTH_FILE"}
HOSTS = ("--host", "--plain-host")
SWITCHES = {
    "--no-controllers": {
        "LISTWATCH_NAMESPACE_CONTROLLER": "no",
        "LISTWATCH_SERVICE_ACCOUNT_ADMISSION": "no",
    }
}
# What a server does unless it is told otherwise, and no other command does.
SERVES = {"LISTWATCH_SERVICE_ACCOUNT_ADMISSION": "yes"}


def main() -> None:
    """Run one management command, as `manage.py` and as the console command `listwatch`."""
    set_environment(sys.argv[2:])
    if sys.argv[1:2] == ["serve"]:
        for variable, given in SERVES.items():
            os.environ.setdefault(variable, given)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "listwatch.settings")
    try:
        conf.load()
    except ValueError as error:  # else Django would tell it with forty lines of its own
        sys.exit(f"listwatch: {error}")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


def set_environment(arguments: Sequence[str]) -> None:
    """Put what concerns the whole process into its environment."""
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if not equals:
            value = "".join(arguments[position + 1 : position + 2])
        if name in VALUES:
            os.environ[VALUES[name]] = value
        elif argument in SWITCHES:
            os.environ.update(SWITCHES[argument])
        elif name in HOSTS:
            # Whoever opens the server to others reaches it by names that only he knows.
            names = "*" if value in ("0.0.0.0", "::") else value  # noqa: S104
            os.environ.setdefault("LISTWATCH_ALLOWED_HOSTS", names)
