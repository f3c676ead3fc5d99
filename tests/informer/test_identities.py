"""Who a client is, on live connections: certificates, programs that give credentials, pod files."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from listwatch.informer import Client, ClientConfig, Scope, SharedInformerFactory, kubeconfig
from listwatch.informer.errors import ForbiddenError, TransportError, UnauthorizedError
from listwatch.informer.exec_plugin import CredentialError
from listwatch.informer.kubeconfig import KubeconfigError
from listwatch.informer.resources import CONFIG_MAPS, PODS
from listwatch.protocol.clock import rfc3339
from listwatch.testing.clock import FakeClock
from tests.informer.certificates import Authority
from tests.servers import Server

# Gives what stands in the file, and counts its runs.
PROGRAM = """
import json, os, pathlib, sys
folder = pathlib.Path(sys.argv[1])
with (folder / "runs").open("a") as runs:
    runs.write("x")
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
status = json.loads((folder / "status").read_text())
if "fails" in status:
    sys.exit(status["fails"])
server = info["spec"].get("cluster", {}).get("server", "")
status = {name: text.replace("SERVER", server) for name, text in status.items()}
print(json.dumps({"apiVersion": info["apiVersion"], "kind": info["kind"], "status": status}))
"""


class Greeter:
    """An HTTP server that says who asked, by token or by certificate; refuses tokens on demand."""

    def __init__(self) -> None:
        self.port = 0
        self.refused: set[str] = set()
        self.streams: list[asyncio.StreamWriter] = []

    @asynccontextmanager
    async def serving(self, context: Any = None) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = server.sockets[0].getsockname()[1]
        yield
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        certificate = writer.get_extra_info("peercert") or {}
        names = dict(pair[0] for pair in certificate.get("subject", ()))
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = dict(line.split(": ", 1) for line in head[1:] if line)
                who = headers.get("Authorization", "").removeprefix("Bearer ")
                status = 401 if who in self.refused else 200
                if "watch" in head[0]:
                    self.streams.append(writer)
                    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    continue
                body = json.dumps({"who": who or names.get("commonName")}).encode()
                writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(body)))
                writer.write(body)
        except (asyncio.IncompleteReadError, OSError):
            writer.close()


class Plugin:
    """A program of a kubeconfig, and what it gives next."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "program.py").write_text(PROGRAM)

    def gives(self, **status: Any) -> None:
        (self.folder / "status").write_text(json.dumps(status))

    @property
    def runs(self) -> int:
        return len((self.folder / "runs").read_text())

    def load(self, server: str, cluster: Any = None, **plugin: Any) -> ClientConfig:
        entry = {
            "apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable,
            "args": [str(self.folder / "program.py"), str(self.folder)],
            "interactiveMode": "IfAvailable", **plugin,
        }  # fmt: skip
        document = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server, **(cluster or {})}}],
            "users": [{"name": "u", "user": {"exec": entry}}],
        }
        file = self.folder / "config"
        file.write_text(yaml.safe_dump(document))
        return kubeconfig.load(file)


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path)


async def who(client: Client) -> str:
    return str((await client.get(PODS, "a"))["who"])


async def test_a_token_of_a_plugin_is_renewed_when_it_runs_out_and_once_for_all(
    plugin: Plugin,
) -> None:
    clock, greeter = FakeClock(), Greeter()
    async with greeter.serving():
        url = f"http://127.0.0.1:{greeter.port}"
        until = rfc3339(clock.now() + 600)
        await asyncio.to_thread(plugin.gives, token="one", expirationTimestamp=until)
        config = await asyncio.to_thread(plugin.load, url)
        async with Client(config, clock=clock) as client:
            assert await who(client) == "one"
            await asyncio.to_thread(plugin.gives, token="two")
            await clock.advance(599)
            assert await who(client) == "one"
            await clock.advance(2)
            answers = await asyncio.gather(*(who(client) for _ in range(20)))
            assert answers == ["two"] * 20
            await clock.advance(1_000_000)  # no end was named this time
            assert await who(client) == "two"

    assert await asyncio.to_thread(lambda: plugin.runs) == 2


async def test_a_token_that_is_refused_is_renewed_before_the_next_request(plugin: Plugin) -> None:
    greeter = Greeter()
    async with greeter.serving():
        await asyncio.to_thread(plugin.gives, token="one")
        config = await asyncio.to_thread(plugin.load, f"http://127.0.0.1:{greeter.port}")
        async with Client(config) as client:
            greeter.refused = {"one"}
            await asyncio.to_thread(plugin.gives, token="two")
            with pytest.raises(UnauthorizedError):
                await who(client)
            assert await who(client) == "two"


async def test_a_plugin_that_fails_later_is_a_failed_request_that_may_be_tried_again(
    plugin: Plugin,
) -> None:
    clock, greeter = FakeClock(), Greeter()
    async with greeter.serving():
        until = rfc3339(clock.now() + 60)
        await asyncio.to_thread(plugin.gives, token="one", expirationTimestamp=until)
        config = await asyncio.to_thread(plugin.load, f"http://127.0.0.1:{greeter.port}")
        async with Client(config, clock=clock) as client:
            await clock.advance(61)
            await asyncio.to_thread(plugin.gives, fails="log in first")
            with pytest.raises(CredentialError, match="status 1: log in first") as told:
                await client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "b"}})
            assert isinstance(told.value, TransportError)  # so informers wait it out
            await asyncio.to_thread(plugin.gives, token="two")
            assert await who(client) == "two"


async def test_a_certificate_of_a_plugin_is_changed_and_streams_are_not_cut(
    plugin: Plugin, tmp_path: Path
) -> None:
    clock, greeter, authority = FakeClock(), Greeter(), Authority()
    context = await asyncio.to_thread(authority.server_context, tmp_path)

    def pair(name: str) -> dict[str, str]:
        certificate, key = authority.pair(name)
        return {"clientCertificateData": certificate, "clientKeyData": key}

    async with greeter.serving(context):
        until = rfc3339(clock.now() + 60)
        await asyncio.to_thread(lambda: plugin.gives(**pair("ann"), expirationTimestamp=until))
        ca = base64.b64encode(authority.pem.encode()).decode()
        url = f"https://127.0.0.1:{greeter.port}"
        config = await asyncio.to_thread(
            plugin.load, url, {"certificate-authority-data": ca}, provideClusterInfo=True
        )
        async with Client(config, clock=clock) as client:
            assert await who(client) == "ann"
            stream = await client.stream("/watch")
            await asyncio.to_thread(lambda: plugin.gives(**pair("bea")))
            await clock.advance(61)
            assert await who(client) == "bea"

            greeter.streams[0].write(b"3\r\n{}\n\r\n0\r\n\r\n")
            assert [line async for line in stream] == [{}]

        nobody = ClientConfig(url, ca=authority.pem)
        async with Client(nobody) as client:
            with pytest.raises(TransportError):
                await who(client)


def test_what_a_plugin_is_told_and_what_is_wrong_with_it_is_named(plugin: Plugin) -> None:
    plugin.gives(token="of SERVER")
    server = "https://one.example:6443"
    assert plugin.load(server).token == "of "
    assert plugin.load(server, provideClusterInfo=True).token == f"of {server}"
    assert "of " not in repr(plugin.load(server))
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"command": ""}, "names a command"),
        ({"interactiveMode": "Always"}, "wants to ask a person"),
        ({"command": "no-such-program", "installHint": "Get it at example.com."}, "Get it at"),
        ({"args": ["-c", "print('{}')"]}, "gave no credential"),
        ({"args": ["-c", "print('{\"status\": {}}')"]}, "neither a token nor a certificate"),
        ({"args": ["-c", 'print(\'{"apiVersion": "v2", "status": {}}\')']}, "it speaks v2"),
    ]
    for entry, words in wrong:
        with pytest.raises(KubeconfigError, match=words):
            plugin.load(server, **entry)


def test_a_plugin_beside_the_kubeconfig_is_found_there(plugin: Plugin) -> None:
    program = plugin.folder / "bin" / "give"
    program.parent.mkdir()
    command = f"{sys.executable} {plugin.folder}/program.py {plugin.folder}"
    program.write_text(f"#!/bin/sh\nexec {command}\n")
    program.chmod(0o755)
    plugin.gives(token="mine")

    assert plugin.load("https://one.example", command="./bin/give", args=[]).token == "mine"


@pytest.fixture
def pod(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientConfig]:
    """The identity of a pod whose account may read config maps of its namespace."""
    base, rbac = "/api/v1/namespaces", "/apis/rbac.authorization.k8s.io/v1/namespaces/inside"
    server.json("POST", base, {"metadata": {"name": "inside"}})
    server.json("POST", f"{base}/inside/serviceaccounts", {"metadata": {"name": "reader"}})
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}]
    server.json("POST", f"{rbac}/roles", {"metadata": {"name": "read"}, "rules": rules})
    server.json("POST", f"{rbac}/rolebindings", {
        "metadata": {"name": "read"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "read"},
        "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": "inside"}],
    })  # fmt: skip
    token = server.json("POST", f"{base}/inside/serviceaccounts/reader/token", {"spec": {}})
    (tmp_path / "token").write_text(token["status"]["token"])
    (tmp_path / "ca.crt").write_text(server.ca.read_text())
    (tmp_path / "namespace").write_text("inside")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.secure_port))
    yield kubeconfig.in_cluster(tmp_path)
    server.json("DELETE", f"{base}/inside")


async def test_a_pod_follows_what_its_account_may_read_and_nothing_else(
    pod: ClientConfig, server: Server
) -> None:
    path = "/api/v1/namespaces/inside/configmaps"
    config = {"metadata": {"name": "hours"}, "data": {"monday": "9-18"}}
    await asyncio.to_thread(server.json, "POST", path, config)
    async with Client(pod) as client:
        factory = SharedInformerFactory(client)
        maps = factory.informer_for(CONFIG_MAPS, scope=Scope(pod.namespace))
        async with factory.running():
            await factory.wait_for_cache_sync(within=30)
            names = [each["metadata"]["name"] for each in maps.lister.list()]
            assert "hours" in names
        with pytest.raises(ForbiddenError, match="system:serviceaccount:inside:reader"):
            await client.list(PODS, namespace="inside")
