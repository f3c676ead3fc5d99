"""Facts of the built-in API and what follows from them.

Kinds, schemas, defaults, validation, OpenAPI documents, protobuf reading. Data is read from
`data/`, which a management command refreshes from any live API server. No Django, and nothing
that knows requests or storage: an object goes in, an object or a list of causes comes out.
The callers are `registry` (defaults, validation) and `api` (discovery, OpenAPI, protobuf bodies).
"""

from __future__ import annotations
