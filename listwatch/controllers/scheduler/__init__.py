"""The scheduler: pods without a node get one.

`queue` holds the pods that wait, `nodes` what nodes have left, `filters` says which nodes can take
a pod, `scores` which is best, `affinity` reads selectors and terms, `controller` puts it together.
"""

from __future__ import annotations
