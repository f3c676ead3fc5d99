"""The base of all API views: DRF's APIView with an async dispatch of its own.

The order is kube-apiserver's: who asks, whether they may, whether there is room, and only then
whether anything is there, in which form the answer goes, and the work itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from rest_framework.request import Request
from rest_framework.views import APIView

from listwatch.api import negotiation
from listwatch.api.authentication import (
    AnonymousAuthentication,
    BearerAuthentication,
    BrowserAuthentication,
)
from listwatch.api.exceptions import exception_handler
from listwatch.api.impersonation import impersonated, wanted_user
from listwatch.api.parsers import JSONParser, ProtobufParser, YAMLParser
from listwatch.api.permissions import AuthorizerPermission, wanted
from listwatch.api.renderers import STATUS_RENDERERS, JSONRenderer, YAMLRenderer
from listwatch.api.responses import KubernetesResponse
from listwatch.api.throttling import InFlightThrottle
from listwatch.api.timeouts import Deadline, deadline
from listwatch.protocol.errors import StatusError, method_not_served, timeout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.http import HttpRequest
    from rest_framework.parsers import BaseParser
    from rest_framework.renderers import BaseRenderer

    from listwatch.api.request import KubernetesRequest
    from listwatch.registry.context import UserInfo

_AUTHENTICATORS = (BearerAuthentication(), BrowserAuthentication(), AnonymousAuthentication())
_PERMISSIONS = [AuthorizerPermission()]
_THROTTLES = [InFlightThrottle()]
NEGOTIATION = negotiation.KubernetesNegotiation()


class KubernetesView(APIView):
    """A view of the API; its methods are coroutines that take DRF's request.

    Subclasses say in `parsers` and `renderers` what they read and write, in `transforms` which
    kinds their answer can be turned into, and are made for each request. All classes of DRF's
    are stateless here and made once.
    """

    authentication_classes = tuple(type(each) for each in _AUTHENTICATORS)
    permission_classes = (AuthorizerPermission,)
    throttle_classes = (InFlightThrottle,)
    content_negotiation_class = negotiation.KubernetesNegotiation
    parser_classes = (JSONParser, YAMLParser, ProtobufParser)
    renderer_classes: Sequence[type[BaseRenderer]] = (JSONRenderer, YAMLRenderer)
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]  # noqa: RUF012 (Django's)
    versioning_class = None
    metadata_class = None
    schema = None

    transforms: ClassVar[frozenset[tuple[str, str, str]]] = negotiation.NOTHING
    plain: KubernetesRequest
    too_large: StatusError | None = None  # set by the handler that did not read the whole body

    async def dispatch(  # type: ignore[override]
        self,
        request: HttpRequest,
        *args: Any,  # Any: what Django's dispatch takes
        **kwargs: Any,
    ) -> KubernetesResponse:
        """The answer to a request; never raises but when it is cancelled."""
        self.args, self.kwargs = args, kwargs
        self.plain = request  # type: ignore[assignment]
        self.request = self.initialize_request(request)
        try:
            if self.plain.info.verb == "watch":
                response = await self._answer(self.request)
            else:
                response = await self._answer_in_time(self.request)
        except Exception as error:  # noqa: BLE001 (the exception handler logs what it does not know)
            response = self.refuse(error)
        return response

    async def _answer_in_time(self, request: Request) -> KubernetesResponse:
        limit = deadline(self.plain.query, self.plain.services.runtime.options.request_timeout)
        try:
            with Deadline(limit):
                return await self._answer(request)
        except TimeoutError:
            why = "request did not complete within requested timeout - context deadline exceeded"
            raise timeout(why) from None

    async def _answer(self, request: Request) -> KubernetesResponse:
        await self.admit(request)
        self.resolve(request)
        if self.too_large is not None:
            raise self.too_large
        self.plain.transforms = self.transforms
        renderer, media_type = NEGOTIATION.select_renderer(request, self.get_renderers())
        request.accepted_renderer, request.accepted_media_type = renderer, media_type
        method = request.method.lower() if request.method else ""
        handler = getattr(self, method, None)
        if handler is None or method not in self.http_method_names:
            raise method_not_served()
        response = await handler(request)
        return self.finish(request, response)

    async def admit(self, request: Request) -> None:
        """Ask DRF's authenticators, permissions and throttles; raises what they raise."""
        found: tuple[UserInfo, None] | None
        for authenticator in _AUTHENTICATORS:
            if isinstance(authenticator, AnonymousAuthentication):
                found = authenticator.authenticate(request)
            else:
                found = await authenticator.aauthenticate(request)
            if found is not None:
                request.user, request.auth = found  # type: ignore[assignment]
                break
        user = request.user
        try:
            self.authorize(request)
        except StatusError as refused:
            if refused.code != 403:
                raise
            # What allows it may have been written just before, by another process even.
            await self.plain.services.runtime.registry.catch_up()
            request.user = user
            self.authorize(request)
        self.check_throttles(request)

    def authorize(self, request: Request) -> None:
        """Become whoever shall be impersonated, and ask DRF's permissions; raises what they do."""
        other = wanted_user(self.plain.scope["headers"])
        if other is not None:
            registry, user = self.plain.services.runtime.registry, cast("UserInfo", request.user)
            asked = wanted(self.plain.info)
            request.user = impersonated(registry.authorizer, user, other, asked)  # type: ignore[assignment]
        self.check_permissions(request)

    def resolve(self, request: Request) -> None:
        """Look up what the path names; raises 404 or 405. By default nothing is to be found."""

    def finish(self, request: Request, response: KubernetesResponse) -> KubernetesResponse:
        """Give the answer what it needs to be written, and begin to; raises what rendering does."""
        response.accepted_renderer = request.accepted_renderer
        response.accepted_media_type = request.accepted_media_type
        response.renderer_context = self.get_renderer_context()
        response.headers.setdefault("Cache-Control", "no-cache, private")
        response.begin()
        return response

    def refuse(self, error: Exception) -> KubernetesResponse:
        """The answer to a failure, as YAML if that was asked for plainly, else as JSON."""
        assert self.request is not None
        response = exception_handler(error, {"request": self.plain, "view": self})
        accept = self.plain.META.get("HTTP_ACCEPT", "")
        try:
            form = negotiation.negotiate(accept)
        except StatusError:
            form = negotiation.Form()
        self.plain.form = form
        self.request.accepted_renderer = STATUS_RENDERERS[form.media_type]
        self.request.accepted_media_type = form.media_type
        return self.finish(self.request, response)

    def release(self) -> None:
        """Let go of the request, when all of the answer but a stream is sent."""
        self.request.parser_context.clear()  # it names request and view

    # What DRF makes anew for each request.

    def initialize_request(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> Request:  # Any: DRF's signature
        """DRF's request around Django's."""
        return Request(
            request,
            parsers=self.get_parsers(),
            authenticators=_AUTHENTICATORS,
            negotiator=NEGOTIATION,
            parser_context={"view": self},
        )

    def get_parsers(self) -> list[BaseParser]:
        """The parsers of this view, the same ones for every request."""
        return _instances(tuple(self.parser_classes))

    def get_renderers(self) -> list[BaseRenderer]:
        """The renderers of this view, the same ones for every request."""
        return _instances(tuple(self.renderer_classes))

    def get_permissions(self) -> list[Any]:  # Any: DRF's type
        """The permissions, the same ones for every request."""
        return _PERMISSIONS

    def get_throttles(self) -> list[Any]:  # Any: DRF's type
        """The throttles, the same ones for every request."""
        return _THROTTLES

    def get_exception_handler(self) -> Callable[..., KubernetesResponse]:
        """The one of `exceptions`."""
        return exception_handler


_made: dict[tuple[type, ...], list[Any]] = {}  # Any: parsers, or renderers


def _instances(classes: tuple[type, ...]) -> list[Any]:  # Any: parsers, or renderers
    made = _made.get(classes)
    if made is None:
        made = _made[classes] = [each() for each in classes]
    return made
