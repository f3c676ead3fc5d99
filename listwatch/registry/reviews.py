"""Questions in the form of objects: who am I, whose is this token, may I, may they, what may I.

They are created and answered, and never stored. The answers come from `authorization` and
`service_accounts`; `registry` hands over what is created at these addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import bad_request, invalid
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.protocol.objects import Encoded
from listwatch.registry import metadata as meta
from listwatch.registry.authorization.attributes import Attributes
from listwatch.registry.bodies import read_body
from listwatch.registry.context import UserInfo, Written
from listwatch.registry.review_faults import review_faults
from listwatch.registry.service_accounts import ISSUER, ServiceAccountTokens

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.authorization.authorizer import Authorizer
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext

AUTHENTICATION, AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"
GROUPS = (AUTHENTICATION, AUTHORIZATION)  # all of whose resources are reviews


class Reviews:
    """Answers reviews. `static` are the lookups of tokens beside those of service accounts."""

    def __init__(
        self, backend: Backend, authorizer: Authorizer, accounts: ServiceAccountTokens
    ) -> None:
        self.static: list[Callable[[str], UserInfo | None]] = []
        self._backend = backend
        self._authorizer = authorizer
        self._accounts = accounts

    async def create(self, ctx: RequestContext, document: JSONObject) -> Written:
        """The review with its status; raises 400, 422."""
        document = read_body(ctx, document, ctx.resource.gvk, self._backend.resources)
        metadata = meta.metadata_of(document)
        meta.match_namespace(ctx, metadata)
        document = await self._backend.admission.admit(ctx, document, ctx.resource.gvk)
        metadata = meta.metadata_of(document)
        if ctx.resource.kind.endswith("AccessReview"):
            _check(ctx.resource.kind, document)
        # What is asked about may have been written just before, by another process even.
        await self._backend.fresh()
        match ctx.resource.kind:
            case "TokenReview":
                status = await self._token(document)
            case "SelfSubjectReview":
                metadata.setdefault("creationTimestamp", rfc3339(self._backend.clock.now()))
                status = {"userInfo": shown_user(ctx.user)}
            case "SelfSubjectRulesReview":
                status = self._rules(ctx.user, document)
            case "SelfSubjectAccessReview":
                status = self._access(ctx.user, _asked(document))
            case "SubjectAccessReview" | "LocalSubjectAccessReview":
                status = self._access(_subject(document), _asked(document))
            case kind:
                raise bad_request(f"{kind} is not answered")
        document["status"] = status
        return Written(Encoded(orjson.dumps(document), 0), 0, created=True)

    async def _token(self, review: JSONObject) -> JSONObject:
        spec = review.get("spec") or {}
        token, audiences = spec.get("token") or "", tuple(spec.get("audiences") or (ISSUER,))
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        for lookup in self.static:
            user = lookup(token)
            if user is not None:
                return _authenticated(user, audiences)
        found = await self._accounts.user(token, audiences)
        if found is None:
            return {"user": {}, "error": "invalid bearer token"}
        return _authenticated(found.user, found.audiences)

    def _rules(self, user: UserInfo, review: JSONObject) -> JSONObject:
        namespace = (review.get("spec") or {}).get("namespace")
        if not namespace:
            raise bad_request("no namespace on request")
        rules = self._authorizer.rules(user, namespace)
        return {
            "resourceRules": [rule.to_dict() for rule in rules if not rule.urls],
            "nonResourceRules": [rule.to_dict() for rule in rules if rule.urls],
            "incomplete": False,
        }

    def _access(self, user: UserInfo, wanted: Attributes) -> JSONObject:
        decision = self._authorizer.decide(user, wanted)
        status: JSONObject = {"allowed": decision.allowed}
        if decision.reason:
            status["reason"] = decision.reason
        return status


def shown_user(user: UserInfo) -> JSONObject:
    """A user as reviews and webhooks are told of one."""
    shown: JSONObject = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    shown["extra"] = {key: list(values) for key, values in user.extra.items()}
    return {key: value for key, value in shown.items() if value}


def _authenticated(user: UserInfo, audiences: tuple[str, ...]) -> JSONObject:
    return {"authenticated": True, "user": shown_user(user), "audiences": list(audiences)}


def _subject(review: JSONObject) -> UserInfo:
    spec = review.get("spec") or {}
    name, groups = spec.get("user") or "", tuple(spec.get("groups") or ())
    extra = {key: tuple(values) for key, values in (spec.get("extra") or {}).items()}
    return UserInfo(name, spec.get("uid") or "", groups, extra)


def _asked(review: JSONObject) -> Attributes:
    spec = review.get("spec") or {}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if path is not None:
        return Attributes(path.get("verb") or "", path=path.get("path") or "")

    given: JSONObject = resource or {}

    def said(key: str) -> Any:  # Any: a text of the review
        return given.get(key) or ""

    # What names no resource is still no path: nothing but `*` allows it.
    return Attributes(
        said("verb"), said("group"), said("resource") or " ", said("subresource"),
        said("namespace"), said("name"),
    )  # fmt: skip


def _check(kind: str, review: JSONObject) -> None:
    causes = review_faults(kind, review)
    if causes:
        # Upstream knows no kind here.
        raise invalid(GroupVersionKind(AUTHORIZATION, "v1", ""), "", tuple(causes))
