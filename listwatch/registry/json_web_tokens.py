"""Signed tokens: made and verified with a key that stays in the data folder.

ES256, since a signature costs 40 us where RSA takes 1,000. What the claims mean is said in
`service_accounts`, the only caller; `api.openid` publishes the public key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

ALGORITHM = "ES256"
Claims = dict[str, Any]  # Any: JSON values
_SIZE = 32  # bytes of a coordinate, and of each half of a signature


class SigningKey:
    """The key of one server, read or made when it is first needed: `load` touches the disk.

    All processes that serve one data folder share it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.loaded = False

    def load(self) -> None:
        """Read the key, or make it; everything else here then needs no disk."""
        assert self.key_id
        self.loaded = True

    def sign(self, claims: Claims) -> str:
        """The claims as a token."""
        head = _encoded(orjson.dumps({"alg": ALGORITHM, "kid": self.key_id, "typ": "JWT"}))
        signed = f"{head}.{_encoded(orjson.dumps(claims))}"
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_encoded(r.to_bytes(_SIZE, 'big') + s.to_bytes(_SIZE, 'big'))}"

    def verify(self, token: str) -> Claims | None:
        """The claims of a token that this key signed, whatever they say; None of any other."""
        parts = token.split(".")
        if len(parts) != 3:
            return None
        try:
            head, claims = (orjson.loads(_decoded(part)) for part in parts[:2])
            signature = _decoded(parts[2])
        except (ValueError, binascii.Error):
            return None
        if not isinstance(head, dict) or not isinstance(claims, dict):
            return None
        if head.get("alg") != ALGORITHM or len(signature) != 2 * _SIZE:
            return None
        r, s = (int.from_bytes(half, "big") for half in (signature[:_SIZE], signature[_SIZE:]))
        signed = f"{parts[0]}.{parts[1]}".encode()
        try:
            public = self._key.public_key()
            public.verify(encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            return None
        return claims

    @cached_property
    def key_id(self) -> str:
        """A name of the key that changes with it."""
        public = self._key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return _encoded(hashlib.sha256(public).digest())

    def public_key(self) -> Claims:
        """The public key as a JSON Web Key."""
        numbers = self._key.public_key().public_numbers()
        return {
            "use": "sig",
            "kty": "EC",
            "kid": self.key_id,
            "crv": "P-256",
            "alg": ALGORITHM,
            "x": _encoded(numbers.x.to_bytes(_SIZE, "big")),
            "y": _encoded(numbers.y.to_bytes(_SIZE, "big")),
        }

    @cached_property
    def _key(self) -> ec.EllipticCurvePrivateKey:
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            text = _make(self._path)
        key = serialization.load_pem_private_key(text, password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{self._path} holds no EC key")
        return key


def _make(path: Path) -> bytes:
    text = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)  # unlike a rename, it fails if another process was first
    except FileExistsError:
        return path.read_bytes()
    finally:
        temporary.unlink()
    return text


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    data = text.encode("ascii")
    if b"=" in data:
        raise ValueError("tokens are written without padding")
    return base64.b64decode(data + b"=" * (-len(data) % 4), altchars=b"-_", validate=True)
