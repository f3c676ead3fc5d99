from __future__ import annotations

import re
from pathlib import Path

import pytest

STATIC = Path(__file__).resolve().parents[2] / "static" / "dashboard"
GROUNDS = ("ground", "surface", "raised", "sunken", "hover")
INKS = (
    "ink",
    "ink-soft",
    "ink-faint",
    "accent",
    "added",
    "modified",
    "deleted",
    "bookmark",
    "error",
)
WASHED = ("added", "modified", "deleted", "bookmark", "error", "accent")


def tokens() -> dict[str, tuple[str, str]]:
    """Every colour of both themes, as tokens.css has them side by side."""
    text = (STATIC / "tokens.css").read_text()
    root = text[: text.index("[data-theme")]
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", root)
    return {name: (light, dark) for name, light, dark in pairs}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", INKS)
@pytest.mark.parametrize("ground", GROUNDS)
def test_every_ink_is_read_on_every_ground(ink: str, ground: str, theme: int) -> None:
    colours = tokens()

    assert contrast(colours[ink][theme], colours[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", WASHED)
def test_every_tinted_ink_is_read_on_its_wash(ink: str, theme: int) -> None:
    colours = tokens()

    assert contrast(colours[ink][theme], colours[f"{ink}-wash"][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_borders_of_fields_are_seen(theme: int) -> None:
    colours = tokens()

    assert contrast(colours["field-line"][theme], colours["surface"][theme]) >= 3


def test_every_token_that_is_used_is_defined() -> None:
    styles = "".join(path.read_text() for path in sorted(STATIC.glob("*.css")))
    used = set(re.findall(r"var\(--([\w-]+)", styles))
    defined = set(re.findall(r"--([\w-]+):", styles))

    assert used - defined == set()


def test_no_style_fetches_anything() -> None:
    styles = "".join(path.read_text() for path in sorted(STATIC.glob("*.css")))

    assert "url(" not in styles
    assert "@import" not in styles
