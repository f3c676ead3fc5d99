"""What every server does before it listens: folder, lock, database, admin, token.

`serve` and `runserver` both begin here, so that a folder made by one is served by the other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from listwatch.conf import Options
from listwatch.serving import database
from listwatch.serving.data_folder import DataFolder


@dataclass(frozen=True, slots=True)
class Prepared:
    """A folder that may be served now."""

    folder: DataFolder
    token: str  # the admin's
    login_token: str  # of the link that logs the admin's browser in


@contextlib.contextmanager
def prepared(options: Options) -> Iterator[Prepared]:
    """Make ready, and hold the folder while entered.

    Raises AlreadyServedError, and ImproperlyConfigured for options that cannot be served.

    A PostgreSQL database has several servers, so it is not held.
    """
    folder = DataFolder(options.data)
    try:
        folder.make()
    except OSError as error:
        raise ImproperlyConfigured(f"the data folder {options.data}: {error.strerror}") from error
    with folder.lock() if database.is_sqlite() else contextlib.nullcontext():
        settings.SECRET_KEY = options.secret_key or folder.keep(
            folder.secret_key, settings.SECRET_KEY
        )
        database.migrate()
        from listwatch.api.tokens import Tokens
        from listwatch.serving import login

        admin = login.ensure_admin()
        try:
            Tokens.from_options(options)
        except (OSError, ValueError) as error:
            raise ImproperlyConfigured(f"the file of more tokens: {error}") from error
        yield Prepared(
            folder, folder.admin_token(options.token), login.make_token(admin)
        )  # fmt: skip
