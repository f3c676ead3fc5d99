from __future__ import annotations

import asyncio
import base64
import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from listwatch.registry.json_web_tokens import SigningKey
from listwatch.registry.service_accounts import ISSUER
from tests.api.asking import Face


def number(text: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")


async def face_with(key: SigningKey) -> Face:
    face = Face()

    async def load_key() -> None:
        await asyncio.to_thread(key.load)

    accounts: Any = SimpleNamespace(load_key=load_key, key=key)
    face.registry.accounts = accounts
    return face


async def test_others_can_verify_our_tokens_with_the_published_key(tmp_path: Path) -> None:
    key = SigningKey(tmp_path / "key")
    face = await face_with(key)
    (published,) = (await face.ask("GET", "/openid/v1/jwks")).json["keys"]
    token = key.sign({"sub": "x"})

    head, claims, signature = token.split(".")
    raw = base64.urlsafe_b64decode(signature + "==")
    halves = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    public = ec.EllipticCurvePublicNumbers(
        number(published["x"]), number(published["y"]), ec.SECP256R1()
    ).public_key()

    public.verify(
        encode_dss_signature(*halves), f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256())
    )
    assert published["alg"] == "ES256"
    assert len(published["kid"]) == len(base64.urlsafe_b64encode(hashlib.sha256().digest())) - 1


async def test_the_configuration_says_where_the_keys_are() -> None:
    headers = {"host": "api.test:6443"}

    found = (await Face().ask("GET", "/.well-known/openid-configuration", headers=headers)).json

    assert found["issuer"] == ISSUER
    assert found["jwks_uri"].endswith("://api.test:6443/openid/v1/jwks")


async def test_a_user_without_that_role_does_not_get_them() -> None:
    answer = await Face().ask("GET", "/openid/v1/jwks", token="L")

    assert answer.status == 403
