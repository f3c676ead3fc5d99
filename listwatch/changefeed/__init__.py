"""From the store to the watch cache: the pump, the doorbells that wake it, the decoding of changes.

The pump is the only feeder of the cache. Its order and completeness come from the log, never from
the timing of signals. Each change goes on to `watchcache`.
"""

from __future__ import annotations
