"""The documents say what the code does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from listwatch.conf import Options
from tests import documents

ROOT = documents.ROOT
LINKING = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_page_of_settings_is_made_from_the_options_as_they_are() -> None:
    assert documents.SETTINGS.read_text() == documents.settings_page()


def test_every_option_has_a_meaning() -> None:
    page = documents.settings_page()
    for name in Options.__dataclass_fields__:
        row = next(line for line in page.splitlines() if f"LISTWATCH_{name.upper()}`" in line)
        assert len(row.split("|")[3].strip()) > 5, row


def test_the_page_of_commands_is_made_from_the_commands_as_they_are() -> None:
    assert documents.COMMANDS.read_text() == documents.commands_page()


def test_the_readme_names_the_commands_that_a_newcomer_needs() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "python manage.py serve" in readme
    assert "python -m pytest" in readme


@pytest.mark.parametrize("path", LINKING, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_between_the_documents_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text()):
        if not target.startswith(("http:", "https:")):
            assert (path.parent / target).exists(), target


def test_the_changelog_tells_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
