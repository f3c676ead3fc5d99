"""A small authority: certificates for a server and for the clients that it shall know by name."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)


class Authority:
    """Signs what it is asked to; PEM text in and out."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("tests")
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        builder = self._builder("tests", self._key).add_extension(constraints, critical=True)
        self.pem = _text(builder.sign(self._key, hashes.SHA256()))

    def pair(self, name: str) -> tuple[str, str]:
        """Certificate and key of somebody, good for this machine's address."""
        key = ec.generate_private_key(ec.SECP256R1())
        address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        builder = self._builder(name, key).add_extension(address, critical=False)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )  # fmt: skip
        return _text(builder.sign(self._key, hashes.SHA256())), private.decode()

    def server_context(self, folder: Path) -> ssl.SSLContext:
        """A server that takes nobody without a certificate of this authority."""
        file = folder / "server.pem"
        file.write_text("\n".join(self.pair("server")))
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=self.pem)
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(file)
        return context

    def _builder(self, name: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(_name(name))
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
        )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _text(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
