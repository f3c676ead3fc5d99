"""An informer beside server truth: a real one, attached by a page, with its queue laid open.

`fifo` shows and holds its DeltaFIFO, `comparing` sets its indexer against the cache, `attachment`
is what the page sees of both.
"""

from __future__ import annotations
