"""An ASGI client within the process, and a runtime that holds what a test puts in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import orjson

from listwatch.api.handler import KubernetesHandler
from listwatch.api.tokens import ADMIN, Tokens
from listwatch.conf import Options
from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import encode
from listwatch.protocol.versions import Version
from listwatch.registry.api_services.remotes import Remotes
from listwatch.registry.authorization.authorizer import Authorizer
from listwatch.registry.authorization.bootstrap import default_objects
from listwatch.registry.authorization.index import RoleIndex, RoleKey
from listwatch.registry.context import Deleted, RequestContext, UserInfo, Written
from listwatch.registry.resources import ResourceTable
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.requests import ListResult

NOBODY = UserInfo("limited", groups=("testers", "system:authenticated"))
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    chunks: list[bytes] = field(default_factory=list)
    complete: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


class Connection:
    """One request under way: `leave` is the client going away."""

    def __init__(self, body: bytes) -> None:
        self._messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._messages.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self.answer = Answer()
        self.sent = asyncio.Event()
        self.blocked = asyncio.Event()  # set: `send` does not return
        self.task: asyncio.Task[None] | None = None

    async def receive(self) -> dict[str, Any]:
        return await self._messages.get()

    async def send(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.answer.status = message["status"]
            self.answer.headers = [(k.decode(), v.decode()) for k, v in message["headers"]]
        else:
            self.answer.chunks.append(message["body"])
            self.answer.complete = not message.get("more_body", False)
        self.sent.set()
        if self.blocked.is_set() and message.get("body"):
            await asyncio.Event().wait()

    async def until(self, text: bytes, seconds: float = 20.0) -> None:
        """Wait until the body holds this."""
        async with asyncio.timeout(seconds):
            while text not in self.answer.body:
                self.sent.clear()
                await self.sent.wait()

    def leave(self) -> None:
        self._messages.put_nowait({"type": "http.disconnect"})


def _default_roles() -> RoleIndex:
    index = RoleIndex()
    for resource, document in default_objects():
        metadata = document["metadata"]
        index.put(resource, RoleKey(metadata.get("namespace", ""), metadata["name"]), document)
    return index


class FakeRegistry:
    """Answers with what it holds, and notes what it was asked."""

    def __init__(self) -> None:
        self.versions: dict[tuple[str, str], Version] = {}
        self.asked: list[tuple[str, RequestContext, Any]] = []
        self.result: ListResult | None = None
        self.watcher: Any = None
        self.authorizer = Authorizer(_default_roles())
        self.reviews = SimpleNamespace(static=[])
        self.accounts = self

    def put(self, document: dict[str, Any], revision: int) -> Version:
        metadata = document["metadata"]
        version = Version(
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            uid=metadata.get("uid", "u"),
            revision=revision,
            encoded=encode(document),
            labels=metadata.get("labels", {}),
            fields={},
        )
        self.versions[version.namespace, version.name] = version
        return version

    async def catch_up(self) -> None:
        """Nothing is late here."""

    async def user(self, token: str) -> None:
        """No token is a service account's."""

    async def get(self, ctx: RequestContext, revision: str = "") -> Version:
        self.asked.append(("get", ctx, revision))
        version = self.versions.get((ctx.namespace, ctx.name))
        if version is None:
            raise StatusError(404, "NotFound", f'{ctx.resource.resource} "{ctx.name}" not found')
        return version

    async def list(self, ctx: RequestContext, options: Any) -> ListResult:
        self.asked.append(("list", ctx, options))
        if self.result is not None:
            return self.result
        versions = [v for (ns, _), v in self.versions.items() if ctx.namespace in ("", ns)]
        return ListResult(versions, 100)

    async def watch(self, ctx: RequestContext, options: Any, representation: Any, who: Any) -> Any:
        self.asked.append(("watch", ctx, (options, representation, who)))
        return self.watcher

    async def create(self, ctx: RequestContext, document: dict[str, Any]) -> Written:
        self.asked.append(("create", ctx, document))
        ctx.warnings.append('unknown field "spec.x"')
        document = {"kind": ctx.resource.kind, "apiVersion": ctx.resource.api_version, **document}
        return Written(encode(document), 0 if ctx.dry_run else 7, created=True)

    async def update(self, ctx: RequestContext, document: dict[str, Any]) -> Written:
        self.asked.append(("update", ctx, document))
        return Written(encode(document), 8, created=False)

    async def patch(self, ctx: RequestContext, patch_type: str, patch: Any) -> Written:
        self.asked.append(("patch", ctx, (patch_type, patch)))
        return Written(self.versions[ctx.namespace, ctx.name].encoded, 9, created=False)

    async def delete(self, ctx: RequestContext, options: Any) -> Deleted:
        self.asked.append(("delete", ctx, options))
        return Deleted(None, 10, gone=True, uid="u")

    async def delete_collection(
        self, ctx: RequestContext, options: Any, selection: Any
    ) -> Sequence[Version]:
        self.asked.append(("deletecollection", ctx, (options, selection)))
        return list(self.versions.values())


class Face:
    """A handler before a fake registry, asked in this process."""

    def __init__(self, **options: Any) -> None:
        self.clock = FakeClock()
        self.registry = FakeRegistry()
        caches: Any = SimpleNamespace(progress=SimpleNamespace(applied=100))
        self.runtime = SimpleNamespace(
            options=Options(**options),
            clock=self.clock,
            ready=True,
            registry=self.registry,
            resources=ResourceTable(),
            caches=caches,
            faults=None,
            aggregator=SimpleNamespace(remotes=Remotes(caches)),
            readers=SimpleNamespace(run=self._no_database),
        )
        tokens = Tokens()
        tokens.add("T", ADMIN)
        tokens.add("L", NOBODY)
        self.handler = KubernetesHandler(tokens)

    @staticmethod
    async def _no_database(*_: Any) -> Any:
        raise AssertionError("this request must not touch the database")

    def open(
        self,
        method: str,
        target: str,
        body: bytes | dict[str, Any] | list[Any] = b"",
        headers: dict[str, str] | None = None,
        token: str = "T",
    ) -> Connection:
        """Begin a request; it goes on beside the test."""
        sent = body if isinstance(body, bytes) else orjson.dumps(body)
        path, _, query = target.partition("?")
        given = {"user-agent": "test/1", **(headers or {})}
        if token:
            given.setdefault("authorization", f"Bearer {token}")
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(k.lower().encode(), v.encode()) for k, v in given.items()],
            "client": ("127.0.0.1", 5),
            "server": ("127.0.0.1", 6443),
            "listwatch.runtime": self.runtime,
        }
        connection = Connection(sent)
        connection.task = asyncio.create_task(
            self.handler(scope, connection.receive, connection.send)
        )
        return connection

    async def ask(self, method: str, target: str, *args: Any, **kwargs: Any) -> Answer:
        """One request, to its end."""
        connection = self.open(method, target, *args, **kwargs)
        assert connection.task is not None
        await connection.task
        return connection.answer


def config_map(name: str, namespace: str = "ns", **more: Any) -> dict[str, Any]:
    """A small object, whose text tries to look like what is spliced."""
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    data = {"k": '"metadata":{"resourceVersion":"1"'}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": data, **more}
