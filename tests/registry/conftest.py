"""A registry on the real store, fed by the real pump, under a clock that is turned by hand."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from listwatch.schemas.decoding import decode
from listwatch.schemas.defaults import apply_defaults
from listwatch.schemas.facts import structure_facts
from listwatch.schemas.kinds import builtin_resources
from listwatch.serving.certificates import ensure
from listwatch.serving.data_folder import DataFolder
from tests.postgres import postgres_url
from tests.registry.hooks import Hook
from tests.registry.house import House, open_house

__all__ = ["postgres_url"]


@pytest.fixture(scope="session")
def facts() -> None:
    """The data files are read when they are first asked for: here, before any loop runs."""
    for resource in builtin_resources():
        document = {"kind": resource.kind, "apiVersion": resource.api_version}
        decode(resource.gvk, document)
        with contextlib.suppress(KeyError):
            apply_defaults(resource.gvk, document)
    structure_facts()


@pytest.fixture
async def house(facts: None, store: None) -> AsyncIterator[House]:
    async with open_house() as opened:
        yield opened


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    folder = DataFolder(tmp_path_factory.mktemp("certificates"))
    folder.make()
    ensure(folder, ["127.0.0.1", "hook.default.svc"])
    return folder


@pytest.fixture
async def hook(house: House, certificates: DataFolder) -> AsyncIterator[Hook]:
    made = Hook()
    app = web.Application()
    app.router.add_post("/{any:.*}", made.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def read() -> bytes:
        context.load_cert_chain(certificates.server_certificate, certificates.server_key)
        return certificates.ca_certificate.read_bytes()

    made.bundle = base64.b64encode(await asyncio.to_thread(read)).decode()
    listener = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listener, ssl_context=context).start()
    made.port = listener.getsockname()[1]
    made.url = f"https://127.0.0.1:{made.port}"
    yield made
    await house.registry.close()
    await runner.cleanup()
