"""Tokens of service accounts: asked for at `/token`, good until they expire or their account goes.

Made here for `registry`; `api.authentication` and TokenReviews ask whose a token is. Nothing of a
token is stored: its signature proves it, and the caches tell whether its account is still there.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import orjson

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import Cause, bad_request, conflict, invalid, not_found
from listwatch.protocol.kinds import GroupResource, GroupVersionKind
from listwatch.protocol.objects import Encoded
from listwatch.protocol.uids import new_uid
from listwatch.registry import metadata as meta
from listwatch.registry.backend import Key
from listwatch.registry.bodies import read_body
from listwatch.registry.context import UserInfo, Written

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend, State
    from listwatch.registry.context import RequestContext
    from listwatch.registry.json_web_tokens import Claims, SigningKey

ISSUER = "https://kubernetes.default.svc.cluster.local"
ACCOUNTS = GroupResource("", "serviceaccounts")
USER_PREFIX = "system:serviceaccount:"
GROUP = "system:serviceaccounts"
AUTHENTICATED = "system:authenticated"
_REQUEST = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")
_DEFAULT, _SHORTEST, _LONGEST = 3600, 600, 1 << 32  # seconds
_BINDABLE = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
_EXTRA = "authentication.kubernetes.io/"
_CLAIM = "kubernetes.io"
_REMEMBERED = 10_000  # tokens whose signatures need not be verified again


class TokenUser(NamedTuple):
    """Whose a token is, and for whom it was made."""

    user: UserInfo
    audiences: tuple[str, ...]


class ServiceAccountTokens:
    """Makes and recognizes the tokens of service accounts. Owned by the registry's event loop."""

    def __init__(self, backend: Backend, key: SigningKey) -> None:
        self.key = key
        self._backend = backend
        self._verified: OrderedDict[str, Claims] = OrderedDict()

    async def request(self, ctx: RequestContext, document: JSONObject) -> Written:
        """A token as a TokenRequest asks for it; raises 400, 404, 409, 422."""
        backend = self._backend
        document = read_body(ctx, document, _REQUEST, backend.resources)
        metadata = meta.metadata_of(document)
        meta.match_namespace(ctx, metadata)
        if metadata.get("name") and metadata["name"] != ctx.name:
            raise bad_request("name on the request must match the name of the service account")
        document = await backend.admission.admit(ctx, document, _REQUEST)
        spec = document.get("spec") or {}
        seconds = spec.get("expirationSeconds")
        seconds = _DEFAULT if seconds is None else seconds
        _check_duration(seconds)
        await self.load_key()
        audiences = list(dict.fromkeys(spec.get("audiences") or [ISSUER]))
        account = await backend.newest(backend.key(ctx))
        if account is None:
            raise not_found(ctx.resource.group_resource, ctx.name)
        bound = spec.get("boundObjectRef")
        now = int(backend.clock.now())
        claims: Claims = {
            "aud": audiences,
            "exp": now + seconds,
            "iat": now,
            "iss": ISSUER,
            "jti": new_uid(),
            _CLAIM: {
                "namespace": ctx.namespace,
                **(await self._bound(ctx, bound) if bound else {}),
                "serviceaccount": {"name": ctx.name, "uid": account.uid},
            },
            "nbf": now,
            "sub": f"{USER_PREFIX}{ctx.namespace}:{ctx.name}",
        }
        answer = {
            "kind": _REQUEST.kind,
            "apiVersion": _REQUEST.api_version,
            "metadata": {
                "name": ctx.name,
                "namespace": ctx.namespace,
                "creationTimestamp": rfc3339(now),
            },
            "spec": {
                "audiences": audiences,
                "expirationSeconds": seconds,
                "boundObjectRef": bound,
            },
            "status": {
                "token": "" if ctx.dry_run else self.key.sign(claims),
                "expirationTimestamp": rfc3339(now + seconds),
            },
        }
        return Written(Encoded(orjson.dumps(answer), 0), 0, created=True)

    async def user(self, token: str, audiences: tuple[str, ...] = (ISSUER,)) -> TokenUser | None:
        """Whose a token is; None if it is nobody's, has expired, or is for nobody of these."""
        if token.count(".") != 2:
            return None  # no token of ours, and not worth a look at the key
        await self.load_key()
        claims = self._claims(token)
        if claims is None or not set(audiences) & set(claims["aud"]):
            return None
        if not claims["nbf"] <= self._backend.clock.now() < claims["exp"]:
            return None
        if not self._lives(claims):
            # It may have been made a moment ago, by another process even.
            await self._backend.fresh()
            if not self._lives(claims):
                return None
        common = tuple(one for one in audiences if one in claims["aud"])
        return TokenUser(_user(claims), common)

    async def load_key(self) -> None:
        """Have the key at hand; the first time a thread reads or makes it."""
        if not self.key.loaded:
            await asyncio.to_thread(self.key.load)

    def _claims(self, token: str) -> Claims | None:
        known = self._verified.get(token)
        if known is None:
            known = self.key.verify(token)
            if known is None or known.get("iss") != ISSUER:
                return None
            self._verified[token] = known
            if len(self._verified) > _REMEMBERED:
                self._verified.popitem(last=False)
        return known

    def _lives(self, claims: Claims) -> bool:
        own = claims[_CLAIM]
        namespace = own["namespace"]
        account = own["serviceaccount"]
        wanted = [(ACCOUNTS, namespace, account)]
        wanted += (
            (GroupResource("", f"{part}s"), namespace, own[part])
            for part in ("pod", "secret")
            if part in own
        )
        if "node" in own and "pod" not in own:
            wanted.append((GroupResource("", "nodes"), "", own["node"]))
        for resource, where, reference in wanted:
            found = self._backend.cached(resource, where, reference["name"])
            if found is None or found.uid != reference["uid"]:
                return False
        return True

    async def _bound(self, ctx: RequestContext, bound: JSONObject) -> Claims:
        kind, name = bound.get("kind", ""), bound.get("name", "")
        if kind not in _BINDABLE or (bound.get("apiVersion") or "v1") != "v1":
            group, _, version = f"/{bound.get('apiVersion', '')}".rpartition("/")
            what = f"{group.removeprefix('/')}/{version}, Kind={kind}"
            raise bad_request(f"cannot bind token to object of type {what}")
        resource = GroupResource("", _BINDABLE[kind])
        namespace = "" if kind == "Node" else ctx.namespace
        state = await self._backend.newest(Key(resource, namespace, name, resource))
        if state is None:
            raise not_found(resource, name)
        given = bound.get("uid")
        if given and given != state.uid:
            raise conflict(
                resource, name,
                f"the UID in the bound object reference ({given}) does not match the UID in "
                "record. The object might have been deleted and then recreated",
            )  # fmt: skip
        parts: Claims = {kind.lower(): {"name": name, "uid": state.uid}}
        if kind == "Pod":
            parts |= await self._node_of(ctx, state)
        return parts

    async def _node_of(self, ctx: RequestContext, pod: State) -> Claims:
        spec = pod.document().get("spec") or {}
        if spec.get("serviceAccountName", "") != ctx.name:
            raise bad_request(
                f'cannot bind token for serviceaccount "{ctx.name}" to pod running with different '
                "serviceaccount name."
            )
        name = spec.get("nodeName")
        if not name:
            return {}
        nodes = GroupResource("", "nodes")
        node = await self._backend.newest(Key(nodes, "", name, nodes))
        return {"node": {"name": name, **({} if node is None else {"uid": node.uid})}}


def groups_of(namespace: str) -> tuple[str, str]:
    """The groups that every service account of a namespace is in."""
    return (GROUP, f"{GROUP}:{namespace}")


def split_user(name: str) -> tuple[str, str] | None:
    """Namespace and name of the account that a user name stands for; None if it is no account's."""
    if not name.startswith(USER_PREFIX):
        return None
    namespace, colon, account = name.removeprefix(USER_PREFIX).partition(":")
    return (namespace, account) if colon and namespace and account and ":" not in account else None


def _user(claims: Claims) -> UserInfo:
    own = claims[_CLAIM]
    extra = {f"{_EXTRA}credential-id": (f"JTI={claims['jti']}",)}
    for part in ("pod", "node"):
        if part in own:
            extra[f"{_EXTRA}{part}-name"] = (own[part]["name"],)
            if own[part].get("uid"):
                extra[f"{_EXTRA}{part}-uid"] = (own[part]["uid"],)
    groups = (*groups_of(own["namespace"]), AUTHENTICATED)
    return UserInfo(claims["sub"], own["serviceaccount"]["uid"], groups, extra)


def _check_duration(seconds: int) -> None:
    why = ""
    if seconds < _SHORTEST:
        why = "may not specify a duration less than 10 minutes"
    elif seconds > _LONGEST:
        why = "may not specify a duration larger than 2^32 seconds"
    if why:
        message = f"Invalid value: {seconds}: {why}"
        cause = Cause("FieldValueInvalid", message, "spec.expirationSeconds")
        raise invalid(_REQUEST, "", (cause,))
