"""What must hold around a write beyond the object itself: namespace, account, limits, quota, hooks.

Here belong upstream's admission plugins, each in a file, and `chain`, which knows the plugins that
a request concerns. `create`, `change` and `delete` ask it. Not here: an object's own validity.
"""

from __future__ import annotations

from listwatch.registry.admission.namespaces import (
    NAMESPACES,
    both,
    empty_namespace,
    namespace_guard,
)

__all__ = ["NAMESPACES", "both", "empty_namespace", "namespace_guard"]
