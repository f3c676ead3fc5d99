"""Django REST framework without the packages that it would load if it found them.

Its compatibility module imports whatever is installed of a list of optional packages: an HTTP
client, a highlighter, the driver of a database. None of them is used here, and together they are
a quarter of a start and 20 MiB. Imported once, before anything else of this package.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

UNUSED = ("coreapi", "inflection", "markdown", "psycopg", "psycopg2", "pygments", "requests",
          "uritemplate")  # fmt: skip


@contextmanager
def absent(*names: str) -> Iterator[None]:
    """Inside, importing these raises ImportError, unless they are loaded already."""
    hidden: dict[str, ModuleType | None] = {n: None for n in names if n not in sys.modules}
    sys.modules.update(hidden)  # type: ignore[arg-type]  # None is what the import system looks for
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def load_rest_framework() -> None:
    """Load what DRF knows of its surroundings; later imports find it loaded."""
    with absent(*UNUSED):
        importlib.import_module("rest_framework.compat")
