"""Controllers that make a server behave like a cluster, each a client of the public HTTP API."""

from __future__ import annotations
