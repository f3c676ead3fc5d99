"""Django admin over the stored kinds: a proxy model and a form per kind, saved through `registry`."""

from __future__ import annotations
