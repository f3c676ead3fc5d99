"""Versions of custom objects that a webhook makes out of one another.

The verbs convert at once, by what the webhook has said before; where it has not, they say what
they need (`ConversionNeededError`), it is asked here, and the verb is tried again. Lists, gets and
answers are converted when they are there; a watch comes here chunk by chunk (`api.converting`).
Upstream: apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from listwatch.protocol.errors import service_unavailable
from listwatch.protocol.objects import decode, encode, header
from listwatch.protocol.uids import new_uid
from listwatch.protocol.versions import Version
from listwatch.registry.admission.web_client import CallError, WebClient
from listwatch.registry.conversions import ConversionNeededError, by_webhook

if TYPE_CHECKING:
    from listwatch.protocol.errors import StatusError
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import Encoded, JSONObject
    from listwatch.registry.backend import Backend

Result = TypeVar("Result")
_SECONDS = 30.0  # that a webhook has
_KEPT = 1000  # answers of a webhook, for each kind
_TRIES = 50  # of one request: it needs an object in a few versions, and others write meanwhile
_REVIEW = "apiextensions.k8s.io/"


class Converter:
    """Asks conversion webhooks. Belongs to one event loop."""

    def __init__(self, backend: Backend) -> None:
        self._client = WebClient(backend)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()

    async def run(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Do something as soon as all it needs has been converted; raises what it raises, 503."""
        for _ in range(_TRIES):
            try:
                return await work()
            except ConversionNeededError as needed:
                await self._answer(needed)
        raise service_unavailable("the object changes faster than it can be converted")

    async def encoded(self, resource: Resource, encoded: Encoded, revision: int) -> Encoded:
        """An object in the version that is served; raises 503."""
        if not by_webhook(resource) or _is_served(resource, encoded):
            return encoded
        document = decode(encoded, revision)
        [converted] = await self.documents(resource, [document], resource.api_version)
        return encode(converted)

    async def versions(self, resource: Resource, found: Sequence[Version]) -> Sequence[Version]:
        """The same for what a get or a list found."""
        if not by_webhook(resource):
            return found
        others = [v for v in found if not _is_served(resource, v.encoded)]
        if not others:
            return found
        documents = [version.decode() for version in others]
        made = await self.documents(resource, documents, resource.api_version)
        converted = {
            version: _version(version, document)
            for version, document in zip(others, made, strict=True)
        }
        return [converted.get(version, version) for version in found]

    async def documents(
        self, resource: Resource, documents: list[JSONObject], api_version: str
    ) -> list[JSONObject]:
        """Objects in another version, all in one question; raises 503."""
        custom = resource.custom
        assert custom is not None
        webhook = custom.conversion["webhook"]
        spoken = webhook.get("conversionReviewVersions") or ["v1"]
        asked = new_uid()
        review = {
            "kind": "ConversionReview",
            "apiVersion": _REVIEW + next(v for v in spoken if v in ("v1", "v1beta1")),
            "request": {"uid": asked, "desiredAPIVersion": api_version, "objects": documents},
        }
        try:
            answer = await self._client.post(webhook["clientConfig"], review, _SECONDS)
        except CallError as error:
            raise _failed(resource, str(error)) from error
        response = answer.get("response") or {}
        result = response.get("result") or {}
        if result.get("status") != "Success":
            raise _failed(resource, result.get("message") or "it gives no reason")
        made = response.get("convertedObjects") or []
        if len(made) != len(documents):
            why = f"returned {len(made)} objects, expected {len(documents)}"
            raise _failed(resource, why)
        return [
            _checked(resource, new, old, api_version)
            for new, old in zip(made, documents, strict=True)
        ]

    async def _answer(self, needed: ConversionNeededError) -> None:
        [made] = await self.documents(needed.resource, [needed.document], needed.api_version)
        assert needed.resource.custom is not None
        known = needed.resource.custom.converted
        known[needed.key] = made
        while len(known) > _KEPT:
            del known[next(iter(known))]


def _checked(resource: Resource, new: JSONObject, old: JSONObject, api_version: str) -> JSONObject:
    # Labels and annotations are all of the metadata that a webhook may change.
    if not isinstance(new, dict) or new.get("apiVersion") != api_version:
        raise _failed(resource, f"invalid converted object: expected apiVersion {api_version}")
    if new.get("kind") != old["kind"]:
        raise _failed(resource, "invalid converted object: it has another kind")
    metadata = {**old["metadata"]}
    given = new.get("metadata")
    for key in ("labels", "annotations"):
        metadata.pop(key, None)
        if isinstance(given, dict) and given.get(key):
            metadata[key] = given[key]
    return {**new, "metadata": metadata}


def _failed(resource: Resource, why: str) -> StatusError:
    gvk = resource.gvk
    return service_unavailable(
        f"conversion webhook for {gvk.api_version}, Kind={gvk.kind} failed: {why}"
    )


def _is_served(resource: Resource, encoded: Encoded) -> bool:
    return encoded.body.startswith(header(resource.kind, resource.api_version))


def _version(version: Version, document: JSONObject) -> Version:
    return Version(
        namespace=version.namespace,
        name=version.name,
        uid=version.uid,
        revision=version.revision,
        encoded=encode(document),
        labels=version.labels,
        fields=version.fields,
        deleted=version.deleted,
        committed_at=version.committed_at,
    )
