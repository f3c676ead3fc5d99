"""A Django user as a user of Kubernetes, the same whether it comes by the API or by the admin.

Synchronous: it asks the database for the user's groups. Used by `api.sessions` and `admin`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.registry.context import UserInfo

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser

MASTERS = "system:masters"  # may do everything


def kubernetes_user(user: AbstractUser) -> UserInfo:
    """A Django user: groups have the same names, and a superuser is in `system:masters`."""
    groups = tuple(user.groups.order_by("name").values_list("name", flat=True))
    if user.is_superuser:
        groups = (*groups, MASTERS)
    return UserInfo(user.get_username(), f"django:{user.pk}", (*groups, "system:authenticated"))
