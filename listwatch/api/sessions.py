"""The Django session of a browser as a Kubernetes user.

Synchronous, and the only database work of the API besides the registry's: `authentication` has
it done by the runtime's reader threads.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

from listwatch.registry.users import kubernetes_user

if TYPE_CHECKING:
    from listwatch.registry.context import UserInfo


def session_user(key: str) -> UserInfo | None:
    """The user whose session has this key; None if it has ended or its user may not log in."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request)
    return kubernetes_user(user) if user.is_authenticated and user.is_active else None
