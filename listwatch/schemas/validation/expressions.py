"""Faults of expressions in CEL that objects bring along: those that cannot be compiled.

Without the extra `cel` nobody can tell, and whoever evaluates one says what to install. Used by
`validation.admissions` and `validation.devices`.
"""

from __future__ import annotations

from functools import lru_cache

from listwatch.protocol.errors import Cause
from listwatch.schemas.object_literals import as_maps
from listwatch.schemas.structural.cel_library import environment
from listwatch.schemas.validation.faults import invalid

# What the expressions of admission see.
VARIABLES = (
    "object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer",
)  # fmt: skip


def expression_faults(text: str | None, field: str) -> list[Cause]:
    """Faults of an expression; typed literals of objects are allowed anywhere."""
    why = _fault(text) if text and text.strip() else ""
    return [invalid(field, text, f"compilation failed: {why}")] if why else []


def syntax_faults(text: str, field: str, variables: tuple[str, ...]) -> list[Cause]:
    """Faults of an expression over things that are not known here: of its syntax alone."""
    why = _fault(text, variables)
    if "Syntax error" not in why:
        return []
    return [invalid(field, text, f"compilation failed: {why}")]


@lru_cache(1024)
def _fault(text: str, variables: tuple[str, ...] = VARIABLES) -> str:
    language = environment(variables)
    if language is None:
        return ""
    try:
        language.compile(as_maps(text))
    except RuntimeError as error:
        why = str(error).removeprefix("INVALID_ARGUMENT: ")
        return why.rpartition(" [")[0] or why
    return ""
