"""Django admin over the stored kinds: a proxy model and a form per kind, saved through `registry`.

Lists read the store's tables; whatever is written goes through the running server's registry, with
the user's own name, so that the admin is a client like any other. Who may do what is said by
Django's permissions. No transaction is held around a save.
"""

from __future__ import annotations
