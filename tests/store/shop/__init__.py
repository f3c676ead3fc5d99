"""An ordinary Django app, as someone's project has one."""

from __future__ import annotations
