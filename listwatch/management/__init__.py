"""The command line: Django's management commands under the name `listwatch` as well.

Here belong the commands and nothing they do; what a command does lives in the package it is about.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run one management command, as `manage.py` and as the console command `listwatch`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "listwatch.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
