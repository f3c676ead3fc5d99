"""Whatever a client sends, the server answers it, and says what was wrong with it."""

from __future__ import annotations

import json
import random
import socket
import time
from collections.abc import Iterator

import pytest
import yaml

from tests.fuzz import ingredients
from tests.fuzz.wire import HANG_SECONDS, Answered, Asked, ask
from tests.servers import Server, running

Route = tuple[str, tuple[str, str]]
SINGLE_PATHS = (
    "/", "/api", "/apis", "/api/v1", "/apis/{}", "/apis/{}/{}", "/apis/apps",
    "/apis/apps/v1", "/version", "/version/", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1",
    "/openapi/v3/apis/{}/{}", "/healthz", "/livez", "/readyz", "/healthz/{}", "/livez/{}",
    "/readyz/{}", "/metrics", "/.well-known/openid-configuration", "/openid/v1/jwks",
    "/api/v1/{}", "/api/v1/{}/{}", "/api/v1/namespaces/{}/{}/{}/{}/{}", "/api/v1/watch",
    "/api/v1/watch/{}", "/api/v1/watch/namespaces/{}/{}", "/api/v1/watch/namespaces/{}/{}/{}",
    "/api/v1/proxy/{}", "/apis/apps/v1/{}/{}/{}", "/api/{}/{}",
)  # fmt: skip


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of these tests alone: they delete what others count on."""
    with running(tmp_path_factory.mktemp("fuzzed")) as made:
        yield made


@pytest.fixture(scope="module")
def routes(fuzzed: Server) -> list[Route]:
    """Every path that the server has a view for, as its own discovery names them."""
    found: list[Route] = [(path, ("v1", "ConfigMap")) for path in SINGLE_PATHS]
    versions = ["/api/v1"]
    for group in fuzzed.json("GET", "/apis")["groups"]:
        versions += [f"/apis/{version['groupVersion']}" for version in group["versions"]]
    for root in versions:
        listing = fuzzed.json("GET", root)
        for resource in listing["resources"]:
            name, _, subresource = resource["name"].partition("/")
            prefix = (
                f"{root}/namespaces/{{}}/{name}" if resource["namespaced"] else f"{root}/{name}"
            )
            kind = (listing["groupVersion"], resource["kind"])
            if subresource:
                found.append((f"{prefix}/{{}}/{subresource}", kind))
                continue
            found += [(prefix, kind), (f"{prefix}/{{}}", kind)]
            if resource["namespaced"]:
                found.append((f"{root}/{name}", kind))
    return found


def drawn(draw: random.Random, routes: list[Route], token: str) -> Asked:
    route, kind = draw.choice(routes)
    target = (ingredients.path(draw, route) + ingredients.query(draw)).replace(" ", "%20")
    headers = [(b"Accept", draw.choice(ingredients.ACCEPTS))]
    if draw.randrange(30):
        headers.append((b"Authorization", b"Bearer " + token.encode()))
    else:
        odd = (b"Bearer", b"Bearer \xff", b"Basic x", b"Bearer a.b.c", b"Bearer " + b"a" * 9000)
        headers.append((b"Authorization", draw.choice(odd)))
    if draw.randrange(30) == 0:
        headers.append((b"Impersonate-User", draw.choice((b"", b"a", b"\xff", b"system:x"))))
    if draw.randrange(30) == 0:
        headers.append((b"Content-Encoding", draw.choice((b"gzip", b"br", b"x"))))
    method = draw.choice(ingredients.METHODS)
    body = b"" if method == "HEAD" else ingredients.body(draw, kind)
    return Asked(
        method, target.encode(), tuple(headers), body, draw.choice(ingredients.CONTENT_TYPES)
    )


def complaint(asked: Asked, answer: Answered) -> str:
    """What is wrong with an answer, empty if nothing is."""
    if answer.status < 400 or asked.method == "HEAD":
        return "" if answer.status < 500 else "fails"
    if answer.status == 404 and answer.body == b"404 page not found\n":
        return ""
    if asked.wants_page and answer.content_type.startswith("text/html") and answer.status < 500:
        return ""  # a path of nobody's, asked for by a browser: a page says so
    if answer.status == 414 or (answer.status in (400, 431) and not answer.body):
        return ""  # not HTTP, or too long a head: the HTTP server refuses before we see it
    try:
        if "yaml" in answer.content_type:
            status = yaml.safe_load(answer.body)
        else:
            status = json.loads(answer.body)
    except ValueError:
        return "is no Status"
    if not isinstance(status, dict) or status.get("kind") != "Status":
        return "is no Status"
    if status.get("code") != answer.status:
        return "has another code than its Status"
    if answer.status >= 500 and (answer.status, status.get("reason")) not in {
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    }:
        return "fails"
    return ""


def run(server: Server, routes: list[Route], seed: int, seconds: float) -> int:
    """Ask for so long; returns how many were asked. Fails with every complaint it has."""
    complaints: dict[str, str] = {}
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end and len(complaints) < 20:
        draw = random.Random(f"{seed} {number}")
        asked = drawn(draw, routes, server.token)
        number += 1
        try:
            answer = ask(server.port, asked)
        except Exception as error:
            complaints.setdefault(repr(error)[:60], f"{seed} {number - 1}: {error!r}: {asked}")
            continue
        if wrong := complaint(asked, answer):
            key = f"{wrong} {answer.status} {answer.body[:70]!r}"
            complaints.setdefault(
                key,
                f"{seed} {number - 1}: {wrong}: {asked}\n   {answer.status} {answer.body[:400]!r}",
            )
    assert not complaints, "\n".join(complaints.values())
    return number


def all_is_well(server: Server) -> None:
    assert server.is_ready()
    assert "Traceback" not in server.log, server.log[-6000:]


@pytest.mark.timeout(150)
def test_no_request_makes_the_server_fail_hang_or_answer_without_a_status(
    fuzzed: Server, routes: list[Route]
) -> None:
    assert run(fuzzed, routes, seed=1, seconds=50) > 500
    all_is_well(fuzzed)


@pytest.mark.full
@pytest.mark.timeout(1500)
def test_a_long_run_finds_nothing_either(fuzzed: Server, routes: list[Route]) -> None:
    assert run(fuzzed, routes, seed=int(time.time()), seconds=1200) > 10_000
    all_is_well(fuzzed)


def test_bytes_that_are_not_http_end_their_own_connection_only(fuzzed: Server) -> None:
    draw = random.Random(3)
    for _ in range(60):
        size = draw.choice((1, 20, 3000))
        garbage = draw.choice((
            draw.randbytes(size), b"GET", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01" + bytes(size),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + draw.randbytes(size), b"\r\n" * size,
            b"GET /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"POST /api/v1/namespaces HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        ))  # fmt: skip
        with socket.create_connection(("127.0.0.1", fuzzed.port), HANG_SECONDS) as connection:
            try:
                connection.sendall(garbage + b"\r\n\r\n")
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(4096)
            except TimeoutError:
                raise
            except OSError:  # the server may cut it at any of these
                answer = b""
        first = answer.split(b"\r\n", 1)[0]
        assert not first.startswith(b"HTTP/") or b" 5" not in first[:12], (garbage[:80], answer)
    all_is_well(fuzzed)
