"""Objects as people edit them: YAML and back, a form that loses nothing, its way to the registry.

Used by the admin and by the dashboard, each of which asks in its own way what its user may do. What
belongs here knows objects, texts and forms; it knows no page, no address and no permission.
"""

from __future__ import annotations
