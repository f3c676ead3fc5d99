"""What happens to an object between the request and the store: patch, default, admit, validate.

The API, the admin and the dashboard's object pages enter here, at `registry.Registry`. It knows
kinds and users but neither HTTP nor forms; refusals are `StatusError`. A write goes on to `store`;
a read comes from `watchcache`.
"""

from __future__ import annotations
