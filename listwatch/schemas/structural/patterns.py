"""Regular expressions of schemas, which are Go's (RE2), as Python's.

The caller is `validating`, and `schema_faults` for those that are none.
"""

from __future__ import annotations

import re
from functools import lru_cache

_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7F", "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F", "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~",
    "punct": r"!-\/:-@\[-`{-~", "space": r"\t\n\v\f\r ", "upper": "A-Z", "word": r"0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_TOKENS = re.compile(r"\\.|\[:\^?[a-z]+:\]|\$|\(\?P?<", re.DOTALL)


@lru_cache(1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """The expression; raises re.error if it is none."""
    return re.compile(_TOKENS.sub(_translated, pattern), re.ASCII)


def _translated(match: re.Match[str]) -> str:
    part = match[0]
    if part in ("$", r"\z"):  # Go means the end of the text, not a line break before it
        return r"\Z"
    if part == "(?<":
        return "(?P<"
    if part.startswith("[:"):
        return _CLASSES.get(part[2:-2], part)
    return part
