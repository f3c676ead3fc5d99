"""Where a server is and how to prove who one is; read by `kubeconfig`, used by `client`."""

from __future__ import annotations

import os
import ssl
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from listwatch.informer.exec_plugin import ExecPlugin


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """One server and one identity. Certificates and keys are PEM text; secrets stay out of repr."""

    server: str
    token: str = field(default="", repr=False)
    token_file: str = ""  # read again now and then: tokens in a cluster are renewed
    ca: str = ""  # certificates to trust; empty: those of the system
    client_certificate: str = ""
    client_key: str = field(default="", repr=False)
    username: str = ""
    password: str = field(default="", repr=False)
    insecure: bool = False  # do not verify the server's certificate
    tls_server_name: str = ""  # the name to verify instead of the one in the address
    namespace: str = "default"
    impersonate: str = ""
    plugin: ExecPlugin | None = None  # gives another token or pair when these have run out
    expires_at: float | None = None  # when they do, in seconds since 1970; None: never

    def __post_init__(self) -> None:
        if not self.server.startswith(("http://", "https://")):
            raise ValueError(f"a server's address begins with http:// or https://: {self.server!r}")
        if bool(self.client_certificate) != bool(self.client_key):
            raise ValueError("a client certificate needs its key, and a key its certificate")
        if self.ca and self.insecure:
            raise ValueError("certificates to trust and no verification exclude each other")
        object.__setattr__(self, "server", self.server.rstrip("/"))

    def ssl_context(self) -> ssl.SSLContext | None:
        """How to speak TLS; None for http. Reads and, for a moment, writes files."""
        if self.server.startswith("http://"):
            return None
        context = ssl.create_default_context(cadata=self.ca or None)
        # Old cluster CAs lack what strict verification asks for; kubectl accepts them, too.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.client_certificate:
            _load_pair(context, self.client_certificate, self.client_key)
        return context


def _load_pair(context: ssl.SSLContext, certificate: str, key: str) -> None:
    # OpenSSL's binding reads a pair from a file only; the folder is ours alone and goes at once.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pair.pem"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{certificate}\n{key}\n")
        context.load_cert_chain(path)
