"""The patch types of the API, each one function: apply(document, patch, schema) -> document.

Pure functions on JSON values; errors are `StatusError`. When a patch is tried again is the business
of `registry`, where the result goes next.
"""

from __future__ import annotations
