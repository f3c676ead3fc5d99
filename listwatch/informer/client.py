"""A REST client for API servers: JSON in and out, refusals as typed errors, streams line by line.

`list_watch` and every controller speak to a server through one of these; what it may do beyond
single requests is in `discovery` and `leader_election`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp
import orjson
from yarl import URL

from listwatch.informer.client_config import ClientConfig
from listwatch.informer.credentials import Credentials
from listwatch.informer.errors import (
    ApiError,
    ConnectionFailedError,
    ConnectionRefused,
    TransportError,
    api_error,
)
from listwatch.informer.json_stream import JSONStream, document_of
from listwatch.informer.objects import JSONObject
from listwatch.informer.resources import APIResource
from listwatch.informer.traffic import ClientStatistics, Traffic
from listwatch.protocol.clock import Clock, SystemClock
from listwatch.protocol.options import DeleteOptions

__all__ = ["PATCH_TYPES", "Client", "JSONStream"]

RETRIES = 10  # of requests that the server asked to come back later, as client-go's
CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0  # without a byte of an answer; watches are watched by their reflector instead
BUFFER_BYTES = 256 * 1024

PATCH_TYPES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


class Client:
    """Speaks to one server as one identity; keeps its connections. One event loop only.

    Refusals raise ApiError by class, everything that is no answer TransportError. A request that
    the server wants later (429 or 5xx with Retry-After) is sent again up to `retries` times; one
    that may have been done is never sent twice, but for GET. Use as `async with`, or `close()`.

    `slots`, a semaphore or the like, bounds the requests that wait for an answer at one time, of
    all clients that share it; open streams hold none.
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        clock: Clock | None = None,
        user_agent: str = "listwatch-informer",
        slots: AbstractAsyncContextManager[object] | None = None,
    ) -> None:
        self.config = config
        self.clock = clock or SystemClock()
        self._credentials = Credentials(config, self.clock)
        self._agent = user_agent
        self._slots = slots or contextlib.nullcontext()
        self._session: aiohttp.ClientSession | None = None
        self._retired: aiohttp.ClientSession | None = None  # of a certificate that ran out
        self._opening = asyncio.Lock()
        self._shown = ("", "")  # certificate and key of the session
        self._traffic = Traffic()

    # Verbs of objects

    async def get(
        self, resource: APIResource, name: str, *, namespace: str = "", subresource: str = ""
    ) -> JSONObject:
        """The object; raises NotFoundError."""
        return await self.request("GET", resource.path(namespace, name, subresource))

    async def list(
        self, resource: APIResource, *, namespace: str = "", query: Mapping[str, str] | None = None
    ) -> JSONObject:
        """One page of a list, as the server's List document."""
        return await self.request("GET", resource.path(namespace), query=query)

    async def create(
        self, resource: APIResource, subject: JSONObject, *, name: str = "", subresource: str = ""
    ) -> JSONObject:
        """Create an object in its own namespace, or post to a subresource of the object `name`."""
        namespace = subject.get("metadata", {}).get("namespace") or ""
        path = resource.path(namespace, name, subresource)
        return await self.request("POST", path, _typed(resource, subject, subresource))

    async def update(
        self, resource: APIResource, subject: JSONObject, *, subresource: str = ""
    ) -> JSONObject:
        """Write an object over the one of its resourceVersion; raises ConflictError."""
        metadata = subject["metadata"]
        path = resource.path(metadata.get("namespace") or "", metadata["name"], subresource)
        return await self.request("PUT", path, _typed(resource, subject, subresource))

    async def update_status(self, resource: APIResource, subject: JSONObject) -> JSONObject:
        """Write the status of an object and nothing else."""
        return await self.update(resource, subject, subresource="status")

    async def patch(
        self,
        resource: APIResource,
        name: str,
        patch: Any,  # Any: a JSON value, by the type of patch
        *,
        namespace: str = "",
        subresource: str = "",
        kind: str = "merge",
        query: Mapping[str, str] | None = None,
    ) -> JSONObject:
        """Change an object by a patch of one of PATCH_TYPES."""
        path = resource.path(namespace, name, subresource)
        return await self.request("PATCH", path, patch, query=query, content_type=PATCH_TYPES[kind])

    async def delete(
        self,
        resource: APIResource,
        name: str,
        *,
        namespace: str = "",
        options: DeleteOptions | None = None,
    ) -> JSONObject:
        """Delete an object: its last state, or a Status."""
        body = _delete_body(options) if options is not None else None
        return await self.request("DELETE", resource.path(namespace, name), body)

    async def delete_collection(
        self,
        resource: APIResource,
        *,
        namespace: str = "",
        query: Mapping[str, str] | None = None,
        options: DeleteOptions | None = None,
    ) -> JSONObject:
        """Delete all objects of a namespace that selectors in the query want."""
        body = _delete_body(options) if options is not None else None
        return await self.request("DELETE", resource.path(namespace), body, query=query)

    # Requests

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,  # Any: a JSON value
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
        retries: int = RETRIES,
    ) -> JSONObject:
        """One request and the document it answers."""
        data = None if body is None else orjson.dumps(body)
        headers = {"Content-Type": content_type} if data is not None else {}
        tried = 0
        while True:
            try:
                async with self._slots:
                    return await self._once(method, path, query, data, headers)
            except ApiError as error:
                later = error.code == 429 or error.code >= 500
                if not later or not error.retry_after or tried >= retries:
                    raise
                delay = float(error.retry_after)
            except TransportError as error:
                # What was refused was not done; what was cut may have been.
                safe = method == "GET" or getattr(error, "refused", False)
                if not safe or tried >= min(retries, 1):
                    raise
                delay = 1.0
            tried += 1
            self._traffic.retries += 1
            await self.clock.sleep(delay)

    async def stream(self, path: str, *, query: Mapping[str, str] | None = None) -> JSONStream:
        """Open a stream of JSON lines; returns when the server has said yes."""
        self._traffic.streams += 1
        # A stream is cut into chunks as it comes: compressing it would only hold it back.
        headers = {"Accept-Encoding": "identity"}
        response = await self._send("GET", path, query, None, headers, read_seconds=None)
        if response.status >= 400:
            raise await self._refusal(response)
        return JSONStream(response, self._traffic)

    async def close(self) -> None:
        """Close all connections; open streams end."""
        await self._close_retired()
        if self._session is not None:
            await self._session.close()
            self._session = None

    def statistics(self) -> ClientStatistics:
        """A record of now."""
        return self._traffic.statistics()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _once(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        data: bytes | None,
        headers: Mapping[str, str],
    ) -> JSONObject:
        self._traffic.requests += 1
        response = await self._send(method, path, query, data, headers, READ_SECONDS)
        if response.status >= 400:
            raise await self._refusal(response)
        return document_of(await self._read(response), "the answer")

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        data: bytes | None,
        headers: Mapping[str, str],
        read_seconds: float | None,
    ) -> aiohttp.ClientResponse:
        headers = {**headers, **await self._credentials.headers()}
        session = await self._open()
        # Encoded here: aiohttp would read a selector's %2C as a comma and write it back as one.
        text = f"{self.config.server}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            return await session.request(
                method,
                URL(text, encoded=True),
                data=data,
                headers=headers,
                allow_redirects=False,
                server_hostname=self.config.tls_server_name or None,
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=CONNECT_SECONDS, sock_read=read_seconds
                ),
            )
        except aiohttp.ClientConnectorError as error:
            self._traffic.failures += 1
            refused = isinstance(error.os_error, ConnectionRefusedError)
            failure = ConnectionRefused if refused else ConnectionFailedError
            raise failure(f"{method} {path}: {error}") from error
        except (aiohttp.ClientError, TimeoutError) as error:
            self._traffic.failures += 1
            failed = isinstance(error, (aiohttp.ServerTimeoutError, ssl.SSLError))
            kind = ConnectionFailedError if failed else TransportError
            raise kind(f"{method} {path}: {error!r}") from error

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        try:
            body = await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            self._traffic.failures += 1
            raise TransportError(f"{response.url.path}: {error!r}") from error
        finally:
            response.release()
        self._traffic.bytes_received += len(body)
        return body

    async def _refusal(self, response: aiohttp.ClientResponse) -> ApiError:
        body = await self._read(response)
        self._traffic.refusals += 1
        after = response.headers.get("Retry-After", "")
        retry_after = int(after) if after.isdecimal() else 0
        if response.status == 401:
            self._credentials.forget()
        try:
            document = json.loads(body)
        except ValueError:
            document = None
        if not isinstance(document, dict) or document.get("kind") != "Status":
            text = body[:1000].decode(errors="replace").strip()
            document = {"message": text or response.reason or "", "code": response.status}
        return api_error(document, response.status, retry_after)

    async def _close_retired(self) -> None:
        if self._retired is not None:
            await self._retired.close()
            self._retired = None

    async def _open(self) -> aiohttp.ClientSession:
        async with self._opening:
            pair = self._credentials.pair
            if self._session is not None and pair != self._shown:
                # What is under way is not cut: it ends by itself, watches within ten minutes.
                await self._close_retired()
                self._retired, self._session = self._session, None
            if self._session is None:
                self._shown = pair
                config = replace(self.config, client_certificate=pair[0], client_key=pair[1])
                # Reading certificates touches files: not in the loop.
                context = await asyncio.to_thread(config.ssl_context)
                connector = aiohttp.TCPConnector(
                    ssl=context if context is not None else True,
                    limit=0,  # every watch holds a connection
                    use_dns_cache=False,
                )
                self._session = aiohttp.ClientSession(
                    connector=connector,
                    headers={"User-Agent": self._agent, "Accept": "application/json"},
                    cookie_jar=aiohttp.DummyCookieJar(),
                    read_bufsize=BUFFER_BYTES,
                )
            return self._session


def _typed(resource: APIResource, subject: JSONObject, subresource: str) -> JSONObject:
    """The object with its kind, which those who build one may leave out."""
    if "kind" in subject or (subresource and subresource != "status"):
        return subject
    return {"apiVersion": resource.api_version, "kind": resource.kind, **subject}


def _delete_body(options: DeleteOptions) -> JSONObject:
    preconditions = {"uid": options.uid, "resourceVersion": options.resource_version}
    body: JSONObject = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": options.grace_period_seconds,
        "preconditions": {k: v for k, v in preconditions.items() if v} or None,
        "orphanDependents": options.orphan_dependents,
        "propagationPolicy": options.propagation_policy or None,
        "dryRun": ["All"] if options.dry_run else None,
    }
    return {name: value for name, value in body.items() if value is not None}
