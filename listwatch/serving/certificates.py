"""Which certificate the secure port shows, and when a new one is due; `authority` makes it.

Kubernetes clients send no credentials over plain HTTP, so a server needs TLS from the first
second, and a client needs the authority: `kubeconfig` carries it inline.
"""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

from listwatch.protocol.clock import Clock, SystemClock

if TYPE_CHECKING:
    from listwatch.serving.data_folder import DataFolder

DAY = 86_400.0
CA_DAYS = 3650
SERVER_DAYS = 397  # the longest that browsers and macOS take
RENEW_DAYS = 30  # a certificate that ends sooner is replaced at the start


def subject_names(host: str = "") -> list[str]:
    """What the certificate is for: this machine by all its usual names, and the host served on."""
    names = ["localhost", "127.0.0.1", "::1", socket.gethostname()]
    if host not in ("0.0.0.0", "::"):  # noqa: S104 (asks whether it is)
        names.append(host)
    return list(dict.fromkeys(name for name in names if name))


def ensure(folder: DataFolder, names: list[str], *, clock: Clock | None = None) -> None:
    """Let the folder have an authority, and a certificate for these names that is valid a while.

    What is there and still good is left alone, so that kubeconfigs handed out go on working. The
    notes beside the certificate spare a start the 40 ms and 8 MiB of an X.509 library.
    """
    now = (clock or SystemClock()).now()
    notes_path = folder.server_certificate.with_suffix(".json")
    files = (folder.ca_certificate, folder.ca_key, folder.server_certificate, folder.server_key)
    if all(file.is_file() for file in files) and notes_path.is_file():
        notes = json.loads(notes_path.read_text())
        if notes["names"] == names and notes["until"] - now > RENEW_DAYS * DAY:
            return
    from listwatch.serving import authority

    ca = authority.kept(folder, now + SERVER_DAYS * DAY) or authority.make(folder, now, CA_DAYS)
    ca.issue(folder, names, now, SERVER_DAYS)
    notes = {"names": names, "until": now + SERVER_DAYS * DAY}
    folder.write(notes_path, json.dumps(notes) + "\n", secret=False)
