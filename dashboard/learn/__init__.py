"""What teaches: list-watch line by line, the way of a pod, and three ways to follow changes.

Each runs on the server itself, as it is, and shows what happened there; nothing is staged but the
writes that a button makes.
"""

from __future__ import annotations
