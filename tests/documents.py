"""The pages of docs/ that are made from the code: `python -m tests.documents` writes them anew."""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path

from listwatch import conf

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "docs" / "settings.md"
COMMANDS = ROOT / "docs" / "commands.md"
ABOUT_SETTINGS = """\
Each option is an environment variable, and a key of the Django setting `LISTWATCH` in lower case
without the prefix. The environment wins. Times are seconds, sizes are bytes."""
ABOUT_COMMANDS = """\
`listwatch COMMAND` where it is installed, `python manage.py COMMAND` in a clone. Django's own
commands (`createsuperuser`, `changepassword`, `shell`, `check`) work too."""
NOTE = "<!-- Made from the code by `python -m tests.documents`. -->\n"


def command_names() -> list[str]:
    """Every command of ours."""
    folder = ROOT / "listwatch" / "management" / "commands"
    return sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")


def settings_page() -> str:
    """docs/settings.md."""
    lines = [
        "# Settings",
        "",
        NOTE,
        ABOUT_SETTINGS,
        "",
        "| Variable | Default | What it means |",
        "| --- | --- | --- |",
    ]
    meanings = _meanings()
    for field in fields(conf.Options):
        default = _shown(getattr(conf.Options(), field.name))
        meaning = meanings[field.name]
        lines.append(f"| `LISTWATCH_{field.name.upper()}` | {default} | {meaning} |")
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """docs/commands.md."""
    lines = [
        "# Commands",
        "",
        NOTE,
        ABOUT_COMMANDS,
    ]
    for name in command_names():
        module = import_module(f"listwatch.management.commands.{name}")
        command = module.Command()
        lines += ["", f"## {name}", "", _purpose(name, module), ""]
        lines += [_prose(inspect.getdoc(module.Command) or ""), ""]
        parser = argparse.ArgumentParser(add_help=False)
        command.add_arguments(parser)
        rows = [_row(action) for action in parser._actions if _is_ours(name, action)]
        if rows:
            lines += ["| Option | Default | What it does |", "| --- | --- | --- |", *rows]
    return "\n".join(lines) + "\n"


def _meanings() -> dict[str, str]:
    """The comments beside the fields of Options."""
    source = inspect.getsource(conf.Options)
    text = source.splitlines()
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            comment = text[(node.end_lineno or 0) - 1].partition("  # ")[2]
            found[node.target.id] = _prose(comment)
    return found


def _shown(value: object) -> str:
    if value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value and value % (1024 * 1024) == 0:
        return f"{value // (1024 * 1024)} MiB"
    return f"`{value}`"


def _is_ours(command: str, action: argparse.Action) -> bool:
    # Of Daphne's many options, which change with its version, only what one needs every day.
    return command != "runserver" or action.dest in ("addrport", "data", "use_reloader")


def _row(action: argparse.Action) -> str:
    names = ", ".join(f"`{option}`" for option in action.option_strings) or f"`{action.dest}`"
    if action.nargs != 0 and action.option_strings:
        names = f"{names} {action.metavar or action.dest.upper()}"
    plain = action.default is None or action.default in ("", argparse.SUPPRESS)
    default = "" if plain or action.nargs == 0 else f"`{action.default}`".replace(f"{ROOT}/", "")
    return f"| {names} | {default} | {_prose(action.help or '')} |"


def _purpose(name: str, module: object) -> str:
    said = _prose(inspect.getdoc(module) or "").removeprefix(f"`{name}`: ")
    return said[:1].upper() + said[1:]


def _prose(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


def main() -> None:
    """Write both pages."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "listwatch.settings")
    import django

    django.setup()
    SETTINGS.write_text(settings_page())
    COMMANDS.write_text(commands_page())


if __name__ == "__main__":
    main()
