"""What a person sees: pages, the one multiplexed socket, sampling, and attached watchers.

Everything on a page is a field of some `statistics()` or an observed event; no model is read here.
"""

from __future__ import annotations
