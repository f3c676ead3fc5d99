"""Values of the list-watch protocol: what is said, never who says it.

Here belong kinds, objects and their encoding, versions, selectors, events and transitions, Status
errors, list options, continue tokens, tables, quantities and the clock. No Django, no asyncio loop
work, no I/O: every function here can be tested with a plain call. What a built-in kind looks like
belongs in `schemas`; what is done with an object in `registry`.
"""

from __future__ import annotations
