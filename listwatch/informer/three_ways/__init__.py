"""Three ways to follow a server's changes, measured side by side: poll, long poll, watch.

Here are the ways and the measuring; `manage.py compare` and the dashboard show what comes of it.
"""

from __future__ import annotations

from listwatch.informer.three_ways.measuring import Options, Record, measure
from listwatch.informer.three_ways.ways import WAYS, Way

__all__ = ["WAYS", "Options", "Record", "Way", "measure"]
