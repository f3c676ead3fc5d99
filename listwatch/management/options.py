"""Options that several commands share, and what they mean to Kubernetes' clients."""

from __future__ import annotations

import argparse

from django.conf import settings

from listwatch import conf
from listwatch.serving.data_folder import DataFolder


def add_data(parser: argparse.ArgumentParser) -> None:
    """`--data DIR`, which `listwatch.management` reads before the settings do."""
    parser.add_argument("--data", metavar="DIR", help="default ./.listwatch, or $LISTWATCH_DATA")


def options() -> conf.Options:
    """The options in force."""
    return conf.load(getattr(settings, "LISTWATCH", None))


def data_folder() -> DataFolder:
    """The folder of the server that a command is about."""
    return DataFolder(options().data)
