"""The folder that a server keeps: who may read what, and that only one server writes it.

Everything secret is made with mode 0600 in a folder of mode 0700. Commands ask here for the token
and the kubeconfig of a server; `certificates` and `kubeconfig` put their files here.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


class AlreadyServedError(Exception):
    """Another process serves this folder."""


class DataFolder:
    """The files of one server by name. Making it touches nothing; `make` does."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow links, and ask the disk)
        self.database = self.path / "listwatch.sqlite3"
        self.token = self.path / "token"
        self.controllers_token = self.path / "controllers-token"
        self.secret_key = self.path / "secret-key"
        self.kubeconfig = self.path / "kubeconfig"
        self.ca_certificate = self.path / "ca.crt"
        self.ca_key = self.path / "ca.key"
        self.server_certificate = self.path / "server.crt"
        self.server_key = self.path / "server.key"
        self._lock = self.path / "lock"

    def make(self) -> None:
        """Make the folder if it is missing, readable by nobody else."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def keep(self, path: Path, made: str) -> str:
        """What a secret file says; `made` is written to it first if it is missing or empty.

        Of several processes that do this at once, all return the same.
        """
        with contextlib.suppress(FileNotFoundError):
            if kept := path.read_text().strip():
                return kept
        self.make()
        temporary = _write_beside(path, f"{made}\n", 0o600)
        try:
            if path.exists() and path.stat().st_size == 0:
                temporary.rename(path)  # a file cut short by a full disk counts as none
            else:
                os.link(temporary, path)  # unlike a rename, it fails if another was first
        except FileExistsError:
            pass
        finally:
            temporary.unlink(missing_ok=True)
        return path.read_text().strip()

    def admin_token(self, given: str = "") -> str:
        """The admin's token: the given one, which is kept, else the kept one, else a new one."""
        if given:
            if not self.token.exists() or self.token.read_text().strip() != given:
                self.write(self.token, f"{given}\n", secret=True)
            return given
        return self.keep(self.token, new_token())

    def write(self, path: Path, text: str, *, secret: bool) -> None:
        """Replace a file at once: a reader sees the old text or the new, never a part."""
        self.make()
        _write_beside(path, text, 0o600 if secret else 0o644).rename(path)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for this process; raises AlreadyServedError if another one does.

        The kernel lets go of it when the process ends, however it ends.
        """
        self.make()
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
                process = f" (process {owner})" if owner else ""
                raise AlreadyServedError(
                    f"{self.path} is served by another process{process}: on SQLite one process "
                    "serves a folder. Stop that one, or choose another folder with --data."
                ) from None
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(descriptor)


def new_token() -> str:
    """A token of 256 random bits. It begins with a letter: `--token -x` would be two options."""
    return f"lw{secrets.token_urlsafe(32)}"


def _write_beside(path: Path, text: str, mode: int) -> Path:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return temporary
