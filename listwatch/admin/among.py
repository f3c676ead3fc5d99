"""Whether a text is one of many, in one parameter however many they are.

`IN` takes a parameter for each, and databases allow a few ten thousand.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, Func
from django.db.models.expressions import Combinable
from django.db.models.sql.compiler import SQLCompiler

_ELEMENTS = {
    "sqlite": "SELECT value FROM json_each(%s)",
    "postgresql": "SELECT json_array_elements_text(CAST(%s AS json))",
}


class Among(Func):
    """`Among(F("key"), keys)`: a condition for `filter`."""

    output_field = BooleanField()
    arity = 1

    def __init__(self, text: Combinable, texts: Sequence[str]) -> None:
        super().__init__(text)
        self.texts = tuple(texts)

    def as_sql(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, list[Any]]:
        """The list goes to the database as JSON (Any: parameters of a query)."""
        text, parameters = compiler.compile(self.source_expressions[0])
        elements = _ELEMENTS[connection.vendor]
        return f"{text} IN ({elements})", [*parameters, json.dumps(self.texts)]
