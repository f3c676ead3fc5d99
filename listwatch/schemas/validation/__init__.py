"""Faults of an object that has its types right: each a cause with field and reason.

`validate` is the one entrance; the modules beside it hold the rules of metadata and of the kinds.
`registry` calls it after defaulting and turns the causes into a Status 422.
"""

from __future__ import annotations

from listwatch.schemas.validation.validator import validate

__all__ = ["validate"]
