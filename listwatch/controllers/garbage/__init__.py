"""The garbage collector: what was owned goes with its owners.

`graph` knows who owns whom, `monitors` keeps it by watching every kind there is, `controller`
deletes and lets go. Upstream: pkg/controller/garbagecollector.
"""

from __future__ import annotations
