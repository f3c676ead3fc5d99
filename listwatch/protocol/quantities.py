"""Quantities of resources: `500m` CPU, `1536Mi` memory, read exactly and written canonically.

A quantity keeps the family of suffixes that it was written in. `schemas` writes them canonically
into objects, `registry` and controllers compare and add them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache, total_ordering

from listwatch.protocol.names import quoted


class Suffixes(StrEnum):
    """The families of suffixes."""

    BINARY = "BinarySI"
    DECIMAL = "DecimalSI"
    EXPONENT = "DecimalExponent"


_NUMBER = re.compile(
    r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([eE])([+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)"
)
_SHAPE = re.compile(r"[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*")
_DECIMAL = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_DECIMAL_NAMES = {exponent: name for name, exponent in _DECIMAL.items()}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_NANO = 10**9
_LIMIT = (2**63 - 1) * _NANO  # what is larger is cut down to it, as in the real server


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A number with nine digits behind the point: `nano` are billionths, rounded away from zero.

    Equal and ordered by value, whatever the suffix.
    """

    nano: int
    suffixes: Suffixes = Suffixes.DECIMAL

    @staticmethod
    def parse(text: str) -> Quantity:
        """Read a quantity; raises ValueError in the real server's words."""
        return _parse(text)

    @staticmethod
    def of(value: str | float) -> Quantity:
        """Read a quantity as JSON has it: a text, or a number. Raises ValueError."""
        if isinstance(value, bool):
            raise ValueError("quantities must be strings or numbers")
        return _parse(value.strip() if isinstance(value, str) else repr(value))

    @property
    def value(self) -> int:
        """The whole number of units, rounded away from zero."""
        return _rounded_up(Fraction(self.nano, _NANO))

    @property
    def milli(self) -> int:
        """Thousandths, rounded away from zero: millicores of CPU."""
        return _rounded_up(Fraction(self.nano, 10**6))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nano == other.nano

    def __hash__(self) -> int:
        return hash(self.nano)

    def __lt__(self, other: Quantity) -> bool:
        return self.nano < other.nano

    def __add__(self, other: Quantity) -> Quantity:
        suffixes = self.suffixes if self.nano else other.suffixes
        return Quantity(_limited(self.nano + other.nano), suffixes)

    def __sub__(self, other: Quantity) -> Quantity:
        suffixes = self.suffixes if self.nano else other.suffixes
        return Quantity(_limited(self.nano - other.nano), suffixes)

    def __bool__(self) -> bool:
        return self.nano != 0

    def __str__(self) -> str:
        nano = self.nano
        if not nano:
            return "0"
        if self.suffixes is Suffixes.BINARY and abs(nano) >= 1024 * _NANO and not nano % _NANO:
            number, power = nano // _NANO, 0
            while not number % 1024:
                number, power = number // 1024, power + 1
            return f"{number}{_BINARY[power]}"
        number, exponent = nano, -9
        while not number % 1000:
            number, exponent = number // 1000, exponent + 3
        if self.suffixes is Suffixes.EXPONENT:
            return f"{number}e{exponent}" if exponent else str(number)
        return f"{number}{_DECIMAL_NAMES[exponent]}"


def canonical(value: str | float) -> str:
    """A quantity as the real server writes it back; raises ValueError."""
    return str(Quantity.of(value))


def _rounded_up(number: Fraction) -> int:
    whole = -(-abs(number.numerator) // number.denominator)
    return whole if number >= 0 else -whole


def _limited(nano: int) -> int:
    return max(-_LIMIT, min(_LIMIT, nano))


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    if not _SHAPE.fullmatch(text):
        raise ValueError(
            "quantities must match the regular expression "
            r"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
    if len(text) > 64:
        raise ValueError(f"unable to parse numeric part of quantity: {quoted(text[:64])}...")
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError("unable to parse quantity's suffix")
    sign, whole, fraction, exponential, exponent, suffix = found.groups()
    if not whole and not fraction:
        raise ValueError("unable to parse numeric part of quantity")
    fraction, suffix = fraction or "", suffix or ""
    number = Fraction(int(whole + fraction), 10 ** len(fraction))
    if exponential:
        suffixes, power = Suffixes.EXPONENT, int(exponent)
        # Past these bounds every number is the limit, or the least there is.
        number *= Fraction(10) ** max(-200, min(200, power))
    elif suffix.endswith("i"):
        suffixes = Suffixes.BINARY
        number *= 1024 ** _BINARY.index(suffix)
    else:
        suffixes = Suffixes.DECIMAL
        number *= Fraction(10) ** _DECIMAL[suffix]
    nano = _rounded_up(number * _NANO)
    return Quantity(_limited(-nano if sign == "-" else nano), suffixes)
