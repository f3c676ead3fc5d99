"""The login link that `serve` prints: signed, good once and for a while, and it needs no password.

What it names is the admin and the moment of his last login, so that any login, by this link or
another way, spends it: nothing is stored for it. From here the browser goes to the dashboard.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model, login
from django.contrib.auth.models import User
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

ADMIN = "admin"  # the name of the user that the first start makes
HOURS = 12
_SALT = "listwatch.login"
_BACKEND = "django.contrib.auth.backends.ModelBackend"


def ensure_admin() -> User:
    """The admin, made at the first start: a superuser without a password.

    `changepassword admin` gives him one; until then he comes in by the link.
    """
    users = get_user_model()
    admin = users.objects.filter(username=ADMIN).first()
    return admin or users.objects.create_superuser(ADMIN)


def make_token(user: User) -> str:
    """What stands in a login link for this user."""
    return signing.dumps([user.pk, _seen(user)], salt=_SALT, compress=False)


@require_GET
@never_cache
def login_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Log the browser in and go on to the dashboard; a spent link leads to the login page."""
    user = _spend(token)
    if user is None:
        if not request.user.is_authenticated:
            messages.error(
                request,
                "This login link was used or is too old. Another is printed by: listwatch login",
            )
        return redirect(settings.LOGIN_REDIRECT_URL)
    login(request, user, backend=_BACKEND)
    return redirect(settings.LOGIN_REDIRECT_URL)


def _spend(token: str) -> User | None:
    try:
        pk, seen = signing.loads(token, salt=_SALT, max_age=HOURS * 3600)
    except signing.BadSignature:
        return None
    users = get_user_model().objects.filter(pk=pk, is_active=True)
    user = users.first()
    if user is None or _seen(user) != seen:
        return None
    # Of two browsers that come at once, the one whose update finds the old time is let in.
    spent = users.filter(last_login=user.last_login).update(last_login=timezone.now())
    return user if spent else None


def _seen(user: User) -> str:
    return user.last_login.isoformat() if user.last_login else ""
