"""The server's own authority: what it signs, for how long, and when it signs anew."""

from __future__ import annotations

import socket
import ssl
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from listwatch.serving import certificates
from listwatch.serving.certificates import DAY
from listwatch.serving.data_folder import DataFolder
from listwatch.testing.clock import FakeClock


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path)


def load(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_a_certificate_is_for_this_machine_by_all_its_names(folder: DataFolder) -> None:
    certificates.ensure(folder, certificates.subject_names("10.1.2.3"))

    names = load(folder.server_certificate).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert [*names.value.get_values_for_type(x509.DNSName)] == ["localhost", socket.gethostname()]
    addresses = [str(each) for each in names.value.get_values_for_type(x509.IPAddress)]
    assert addresses == ["127.0.0.1", "::1", "10.1.2.3"]


def test_the_strictest_check_of_the_library_passes(folder: DataFolder) -> None:
    certificates.ensure(folder, certificates.subject_names())

    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder.server_certificate, folder.server_key)
    client = ssl.create_default_context(cafile=str(folder.ca_certificate))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    for name in ("localhost", "127.0.0.1", "::1"):
        inside, outside = ssl.MemoryBIO(), ssl.MemoryBIO()
        there = server.wrap_bio(outside, inside, server_side=True)
        here = client.wrap_bio(inside, outside, server_hostname=name)
        for side in (here, there, here, there, here):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
        assert here.getpeercert()


def test_an_authority_signs_and_a_certificate_only_serves(folder: DataFolder) -> None:
    certificates.ensure(folder, ["localhost"])
    ca, server = load(folder.ca_certificate), load(folder.server_certificate)

    server.verify_directly_issued_by(ca)
    assert ca.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert not server.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    usage = server.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert [*usage] == [ExtendedKeyUsageOID.SERVER_AUTH]
    for key in (folder.ca_key, folder.server_key):
        assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_what_is_good_is_left_alone(folder: DataFolder) -> None:
    certificates.ensure(folder, ["localhost"])
    before = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    certificates.ensure(folder, ["localhost"])

    assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == before


@pytest.mark.parametrize(
    ("names", "later", "new_ca"),
    [
        (["localhost", "example"], 0, False),
        (["localhost"], certificates.SERVER_DAYS - certificates.RENEW_DAYS, False),
        (["localhost"], certificates.CA_DAYS - 100, True),
    ],
    ids=["another name", "soon at its end", "the authority soon at its end"],
)
def test_a_certificate_is_made_anew_when_it_must(
    folder: DataFolder, names: list[str], later: int, new_ca: bool
) -> None:
    clock = FakeClock()
    certificates.ensure(folder, ["localhost"], clock=clock)
    old = {path: path.read_bytes() for path in (folder.ca_certificate, folder.server_certificate)}
    clock.set(clock.now() + later * DAY)
    certificates.ensure(folder, names, clock=clock)

    assert folder.server_certificate.read_bytes() != old[folder.server_certificate]
    assert (folder.ca_certificate.read_bytes() != old[folder.ca_certificate]) == new_ca
    load(folder.server_certificate).verify_directly_issued_by(load(folder.ca_certificate))


def test_a_start_with_a_good_certificate_loads_no_library_for_it(folder: DataFolder) -> None:
    certificates.ensure(folder, ["localhost"])
    program = f"""
import sys
from pathlib import Path
from listwatch.serving import certificates
from listwatch.serving.data_folder import DataFolder
certificates.ensure(DataFolder(Path({str(folder.path)!r})), ["localhost"])
print("cryptography" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )  # fmt: skip

    assert done.stdout.strip() == "False"
