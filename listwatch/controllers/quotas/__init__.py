"""The status of resource quotas: how much of each is used.

The server refuses what is too much by what stands there; `usage` says what an object uses,
`controller` adds it up.
"""

from __future__ import annotations
