"""Who asks: a bearer token, the session of a browser, or nobody.

DRF's authenticators in DRF's place; KubernetesView asks them in order and awaits those that must
look something up. The first that finds credentials decides; bad ones are a 401, none are the user
`system:anonymous`, of whom `permissions` thinks little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.authentication import BaseAuthentication, CSRFCheck

from listwatch.api.sessions import session_user
from listwatch.api.wrapping import plain
from listwatch.protocol.errors import StatusError, unauthorized
from listwatch.registry.context import UserInfo

if TYPE_CHECKING:
    from rest_framework.request import Request

    from listwatch.api.request import KubernetesRequest

AUTHENTICATED = "system:authenticated"
ANONYMOUS = UserInfo("system:anonymous", groups=("system:unauthenticated",))
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer T`, looked up in memory. Another scheme counts as no credentials."""

    async def aauthenticate(self, request: Request) -> tuple[UserInfo, None] | None:
        """The user of the token; raises 401 if it is none."""
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return None
        services = plain(request).services
        user = services.tokens.user(token)
        if user is not None:
            return user, None
        found = await services.runtime.registry.accounts.user(token)
        if found is None:
            raise unauthorized()
        return found.user, None


class BrowserAuthentication(BaseAuthentication):
    """The Django session of a browser; a write needs its CSRF token besides."""

    async def aauthenticate(self, request: Request) -> tuple[UserInfo, None] | None:
        """The session's user, read by our own database threads; an ended session is none."""
        ours = plain(request)
        key = ours.COOKIES.get(settings.SESSION_COOKIE_NAME)
        if not key:
            return None
        user = await ours.services.runtime.readers.run(session_user, key)
        if user is None:
            return None
        if ours.method not in _SAFE_METHODS:
            _check_csrf(ours)
        return user, None


class AnonymousAuthentication(BaseAuthentication):
    """Whoever shows nothing."""

    def authenticate(self, request: Request) -> tuple[UserInfo, None]:
        """The user `system:anonymous`."""
        return ANONYMOUS, None


def _check_csrf(request: KubernetesRequest) -> None:
    # Cookies travel with requests that a foreign page makes; the token of the page does not.
    check = CSRFCheck(lambda _: None)  # type: ignore[arg-type]
    check.process_request(request)
    reason = check.process_view(request, None, (), {})  # type: ignore[arg-type]
    if reason:
        raise StatusError(403, "Forbidden", f"CSRF Failed: {reason}", details={})
