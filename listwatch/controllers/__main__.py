"""`python -m listwatch.controllers`: the controllers, without loading any of Django."""

from __future__ import annotations

import argparse
import logging
import sys

from listwatch.controllers import process
from listwatch.controllers.arguments import add_arguments, config_of, options_of


def main() -> None:
    """Read the arguments and run until stopped."""
    parser = argparse.ArgumentParser(
        prog="listwatch.controllers", description="The controllers of a cluster, and its nodes."
    )
    add_arguments(parser)
    parser.add_argument("--leash", action="store_true", help="end when standard input is closed")
    given = vars(parser.parse_args())
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        config, options = config_of(given), options_of(given)
        process.run(config, options, leash=given["leash"])
    except (ValueError, OSError) as error:
        sys.exit(f"controllers: {error}")


if __name__ == "__main__":
    main()
