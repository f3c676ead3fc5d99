"""The HTTP face, in Django REST framework's own file names.

Requests are authenticated, authorized, negotiated and parsed here, and answers rendered. What a
write does is `registry`'s business; what a watch sends is `watchcache`'s.
"""

from __future__ import annotations

from listwatch.api.lean import load_rest_framework

load_rest_framework()
