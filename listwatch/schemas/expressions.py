"""CEL over objects: the expressions of admission policies and match conditions.

The language is the optional package of the extra `cel`; its environment is in
`structural.cel_library`, which the rules of custom kinds use as well. Without the package every
expression fails with a sentence that says what to install. The caller is `registry.admission`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from listwatch.schemas.structural.cel_authorization import decided_by
from listwatch.schemas.structural.cel_library import environment

if TYPE_CHECKING:
    from listwatch.schemas.structural.cel_authorization import Decide
    from listwatch.schemas.structural.cel_library import Expression

_COMPILED = 1000  # expressions that stay compiled
MISSING = "CEL expressions need an optional package: pip install 'listwatch[cel]'"


class ExpressionError(Exception):
    """An expression that does not compile, or has no value; the text says why."""


def _never(_: Mapping[str, str]) -> tuple[bool, str]:
    return False, ""


class Expressions:
    """Compiles and evaluates expressions over the same variables; all of them are dynamic.

    `decide` answers what they ask the authorizer. Not for several threads at once.
    """

    def __init__(self, variables: Sequence[str], decide: Decide = _never) -> None:
        self._variables = tuple(variables)
        self._decide = decide
        self._compiled: OrderedDict[str, Expression] = OrderedDict()

    def value(self, expression: str, data: Mapping[str, Any]) -> Any:  # Any: JSON values
        """What it evaluates to; raises ExpressionError."""
        made = self._expression(expression)
        with decided_by(self._decide):
            result = made.eval(data={name: data.get(name) for name in self._variables})
        if result.type().name().lower() == "error":
            raise ExpressionError(_reason(str(result.value())))
        return result.plain_value()

    def holds(self, expression: str, data: Mapping[str, Any]) -> bool:  # Any: JSON values
        """Whether it is true; raises ExpressionError if it is no boolean."""
        value = self.value(expression, data)
        if not isinstance(value, bool):
            raise ExpressionError(f"cel expression must evaluate to a bool: {expression}")
        return value

    def _expression(self, text: str) -> Expression:
        made = self._compiled.get(text)
        if made is None:
            language = environment(self._variables)
            if language is None:
                raise ExpressionError(MISSING)
            try:
                made = language.compile(text)
            except RuntimeError as error:
                why = str(error).rpartition(" [")[0] or str(error)
                raise ExpressionError(f"compilation failed: {why}") from None
            self._compiled[text] = made
            if len(self._compiled) > _COMPILED:
                self._compiled.popitem(last=False)
        return made


def _reason(text: str) -> str:
    # `NOT_FOUND: Key not found in map : "x"`, which upstream words otherwise.
    _, colon, why = text.partition(": ")
    why = why if colon else text
    key = why.removeprefix("Key not found in map : ")
    return why if key == why else f"no such key: {key.strip(chr(34))}"
