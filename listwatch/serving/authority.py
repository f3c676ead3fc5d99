"""The server's own certificate authority. Loaded only when a certificate is to be made.

The extensions are those that the strictest client asks for (Python 3.13 and Go check them all).
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from listwatch.serving.data_folder import DataFolder

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate that signs others, and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def issue(self, folder: DataFolder, names: list[str], now: float, days: int) -> None:
        """Put a server certificate for these names, valid from now, into the folder."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName([_general_name(name) for name in names])
        certificate = (
            _builder(_name("listwatch"), self.certificate.subject, key.public_key(), now, days)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(alternatives, critical=False)
            .add_extension(_issued_by(self.key), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        folder.write(folder.server_key, _key_text(key), secret=True)
        folder.write(folder.server_certificate, _text(certificate), secret=False)


def kept(folder: DataFolder, until: float) -> Authority | None:
    """The folder's authority; None if there is none that lasts until then."""
    if not (folder.ca_certificate.is_file() and folder.ca_key.is_file()):
        return None
    certificate = x509.load_pem_x509_certificate(folder.ca_certificate.read_bytes())
    key = serialization.load_pem_private_key(folder.ca_key.read_bytes(), None)
    if certificate.not_valid_after_utc.timestamp() < until:
        return None
    return Authority(certificate, key) if isinstance(key, ec.EllipticCurvePrivateKey) else None


def make(folder: DataFolder, now: float, days: int) -> Authority:
    """A new authority, kept in the folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    # Of two authorities with one name, clients may pick the wrong one: the name is different.
    subject = _name(f"listwatch {x509.random_serial_number() % 16**6:06x}")
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        _builder(subject, subject, key.public_key(), now, days)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(identifier, critical=False)
        .add_extension(_issued_by(key), critical=False)
        .sign(key, hashes.SHA256())
    )
    folder.write(folder.ca_key, _key_text(key), secret=True)
    folder.write(folder.ca_certificate, _text(certificate), secret=False)
    return Authority(certificate, key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: float, days: int
) -> x509.CertificateBuilder:
    # A day back: the clocks of two machines, or of a container and its host, differ.
    begin = dt.datetime.fromtimestamp(now - _DAY, dt.UTC)
    end = dt.datetime.fromtimestamp(now + days * _DAY, dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
    )


def _issued_by(key: ec.EllipticCurvePrivateKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _text(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key_text(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
