"""The machinery of watching, shown: watchers, rings, and the way of each event.

What the pages tell is made here from `statistics()` and from what the watch cache reports to its
observers; `frames` has what they share with the older pages, `subscriptions` sends it.
"""

from __future__ import annotations
