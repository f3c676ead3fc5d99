"""Quantities as the real server writes them back."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.protocol.quantities import Quantity, Suffixes, canonical


@pytest.mark.parametrize(
    ("given_", "written"),
    [
        ("0", "0"),
        ("0Ki", "0"),
        ("-0", "0"),
        ("1", "1"),
        ("+1", "1"),
        ("1.", "1"),
        (".5", "500m"),
        ("0.5", "500m"),
        ("100m", "100m"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        ("1000", "1k"),
        ("1500", "1500"),
        ("12000000", "12M"),
        ("1e3", "1e3"),
        ("1E3", "1e3"),
        ("1000e3", "1e6"),
        ("1500e0", "1500"),
        ("15e-1", "1500e-3"),
        ("1E", "1E"),
        ("1Ki", "1Ki"),
        ("1024", "1024"),
        ("1024Ki", "1Mi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Gi", "512Mi"),
        ("1000Ki", "1000Ki"),
        ("0.5Ki", "512"),
        ("0.1Ki", "102400m"),
        ("0.1Mi", "104857600m"),
        ("-1Gi", "-1Gi"),
        ("-1.5", "-1500m"),
        ("1n", "1n"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("100u", "100u"),
        ("1Ei", "1Ei"),
        ("100Ei", "9223372036854775807"),
        ("1e99", "9223372036854775807"),
        ("1e999999999", "9223372036854775807"),
        ("1e-999999999", "1e-9"),
    ],
)
def test_a_quantity_is_written_canonically(given_: str, written: str) -> None:
    assert canonical(given_) == written


@pytest.mark.parametrize(("given_", "written"), [(1, "1"), (0.5, "500m"), (2000, "2k"), (-3, "-3")])
def test_a_number_is_a_quantity(given_: float, written: str) -> None:
    assert canonical(given_) == written


SHAPE = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", SHAPE),
        ("x", SHAPE),
        ("1 Gi", SHAPE),
        ("--1", SHAPE),
        ("1Zi", SHAPE),
        ("\u0661", SHAPE),
        ("1i", "unable to parse quantity's suffix"),
        ("1K", "unable to parse quantity's suffix"),
        ("1ki", "unable to parse quantity's suffix"),
        ("1mm", "unable to parse quantity's suffix"),
        ("1e", "unable to parse quantity's suffix"),
        ("1.2.3", "unable to parse quantity's suffix"),
        (".", "unable to parse numeric part of quantity"),
    ],
)
def test_what_is_no_quantity_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError) as fault:
        Quantity.parse(text)

    assert str(fault.value) == message


def test_a_boolean_is_no_quantity() -> None:
    with pytest.raises(ValueError):
        Quantity.of(True)


def test_quantities_compare_and_add_by_value() -> None:
    assert Quantity.parse("1024") == Quantity.parse("1Ki")
    assert hash(Quantity.parse("1000m")) == hash(Quantity.parse("1"))
    assert Quantity.parse("999m") < Quantity.parse("1")
    assert Quantity.parse("1Gi") >= Quantity.parse("1G")
    assert str(Quantity.parse("1Gi") + Quantity.parse("512Mi")) == "1536Mi"
    assert str(Quantity.parse("0") + Quantity.parse("512Mi")) == "512Mi"
    assert str(Quantity.parse("1") - Quantity.parse("1100m")) == "-100m"


def test_parts_of_a_unit_round_away_from_zero() -> None:
    assert Quantity.parse("1100m").value == 2
    assert Quantity.parse("-1100m").value == -2
    assert Quantity.parse("1u").milli == 1
    assert Quantity.parse("2").milli == 2000


quantities = st.builds(
    Quantity, st.integers(-(2**63 - 1) * 10**9, (2**63 - 1) * 10**9), st.sampled_from(Suffixes)
)


@given(quantities)
def test_a_written_quantity_reads_as_itself(quantity: Quantity) -> None:
    again = Quantity.parse(str(quantity))

    assert again == quantity
    assert str(again) == str(quantity)


@given(st.decimals(-(10**12), 10**12, places=6), st.sampled_from(["", "k", "M", "m"]))
def test_decimal_suffixes_multiply(number: Decimal, suffix: str) -> None:
    factor = Decimal({"": "1", "k": "1000", "M": "1000000", "m": "0.001"}[suffix])

    assert Quantity.parse(f"{number:f}{suffix}").nano == number * factor * 10**9


@given(st.text("0123456789.eEinumkKMGTP+-", max_size=8))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        written = canonical(text)
    except ValueError:
        return

    assert canonical(written) == written
