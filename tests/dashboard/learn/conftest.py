from __future__ import annotations

from tests.admin.conftest import facts, runtime

__all__ = ["facts", "runtime"]
