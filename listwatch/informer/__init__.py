"""The client half of list-watch: Reflector, DeltaFIFO, Indexer, SharedInformer, Lister, workqueue.

A client like any other: it knows a server by its URL alone and imports nothing of one.
"""

from __future__ import annotations
