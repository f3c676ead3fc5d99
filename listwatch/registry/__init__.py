"""What happens to an object between the request and the store: admit, patch, default, validate.

The API and the admin both enter here, at `registry.Registry`. It knows kinds and users but neither
HTTP nor forms; refusals are `StatusError`. A write goes on to `store`; a read comes from
`watchcache`.
"""

from __future__ import annotations
