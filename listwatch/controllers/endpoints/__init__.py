"""Endpoints and endpoint slices: the addresses behind a service, as pods come and go.

`addresses` works them out, `controller` writes Endpoints, `slices` writes EndpointSlices. Clients
that discover services read both.
"""

from __future__ import annotations
