"""CEL: the expressions in admission policies, match conditions and the rules of custom resources.

The language itself is the optional package `cel-expr-python` (extra `cel`), Google's own
implementation; what Kubernetes adds to it is in `expression_functions`. Without the package every
expression is refused with a sentence that says what to install. Used by `registry.admission`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

_COMPILED = 1000  # expressions that stay compiled
MISSING = "CEL expressions need an optional package: pip install 'listwatch[cel]'"


class ExpressionError(Exception):
    """An expression that does not compile, or has no value; the text says why."""


@cache
def available() -> bool:
    """Whether expressions can be evaluated at all."""
    try:
        import cel_expr_python  # noqa: F401
    except ImportError:
        return False
    return True


class Expressions:
    """Compiles and evaluates expressions over the same variables; all of them are dynamic.

    Not for several threads at once.
    """

    def __init__(self, variables: Sequence[str]) -> None:
        self._variables = tuple(variables)
        self._programs: OrderedDict[str, Any] = OrderedDict()  # Any: the package's programs

    def fault(self, expression: str) -> str:
        """Why it does not compile; '' if it does, or if nobody here can tell."""
        if not available():
            return ""
        try:
            self._program(expression)
        except ExpressionError as error:
            return str(error)
        return ""

    def value(self, expression: str, data: Mapping[str, Any]) -> Any:  # Any: JSON values
        """What it evaluates to; raises ExpressionError."""
        program = self._program(expression)
        values = {name: data.get(name) for name in self._variables}
        try:
            result = program.eval(data=values)
        except Exception as error:
            raise ExpressionError(_first_line(error)) from error
        if result.type().name() == "*error*" or _is_error(result):
            raise ExpressionError(_reason(str(result.value())))
        return result.plain_value()

    def holds(self, expression: str, data: Mapping[str, Any]) -> bool:  # Any: JSON values
        """Whether it is true; raises ExpressionError if it is no boolean."""
        value = self.value(expression, data)
        if not isinstance(value, bool):
            raise ExpressionError(f"cel expression must evaluate to a bool: {expression}")
        return value

    def _program(self, expression: str) -> Any:  # Any: a program of the package
        program = self._programs.get(expression)
        if program is None:
            if not available():
                raise ExpressionError(MISSING)
            try:
                program = _environment(self._variables).compile(expression)
            except Exception as error:
                raise ExpressionError(f"compilation failed: {_first_line(error)}") from error
            self._programs[expression] = program
            if len(self._programs) > _COMPILED:
                self._programs.popitem(last=False)
        return program


@cache
def _environment(variables: tuple[str, ...]) -> Any:  # Any: the package has no types
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_encoders, ext_math, ext_optional, ext_strings

    from listwatch.schemas.expression_functions import declarations

    extensions = [
        ext_strings.ExtStrings(), ext_optional.ExtOptional(), ext_math.ExtMath(),
        ext_bindings.ExtBindings(), ext_encoders.ExtEncoders(),
    ]  # fmt: skip
    return cel.NewEnv(
        variables=dict.fromkeys(variables, cel.Type.DYN),
        extensions=extensions,
        functions=declarations(),
    )


def _is_error(result: Any) -> bool:  # Any: a value of the package
    from cel_expr_python import cel

    return bool(result.type() == cel.Type.ERROR)


def _reason(text: str) -> str:
    # `NOT_FOUND: Key not found in map : "x"`, which upstream words otherwise.
    _, colon, why = text.partition(": ")
    why = why if colon else text
    missing = why.removeprefix("Key not found in map : ")
    return why if missing == why else f"no such key: {missing.strip(chr(34))}"


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].removeprefix("INVALID_ARGUMENT: ") if lines else type(error).__name__
