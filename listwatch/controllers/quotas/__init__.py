"""The status of resource quotas: how much of each is used.

`schemas.quota_usage` says what an object uses, as the server does that refuses what is too much;
`controller` adds it up.
"""

from __future__ import annotations
