"""Faults as people put them in, see them and lift them: the page, its channel and the banner.

What faults do is in `listwatch.faults`; the same through HTTP is `listwatch.api.faults`.
"""

from __future__ import annotations
