"""The patch types of the API, each one function: apply(document, patch, schema) -> document.

Pure functions on JSON values; errors are `StatusError`. When a patch is tried again is `registry`'s business.
"""

from __future__ import annotations
