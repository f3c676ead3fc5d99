"""What a person sees: pages, the one multiplexed socket, sampling, and attached watchers.

A page shows fields of some `statistics()`, observed events, or what a real watch or the registry
gives; no model is read here.
"""

from __future__ import annotations
