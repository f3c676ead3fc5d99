"""How the server starts and stops: Granian or Daphne, TLS, the data folder, the login link.

Here belongs what stands between the operating system and the application. What the application does
with a request is the business of `api`, of `admin` and of `dashboard`.
"""

from __future__ import annotations
