"""Objects of every kind: found, listed live, read, compared, changed, made and deleted.

What stands here asks and writes through the running server's registry, as the user who is signed in
and with what the roles allow that user: a page shows what the API would answer, and refuses in the
API's words. `asker` is the one way in.
"""

from __future__ import annotations
