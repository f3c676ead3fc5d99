"""Bearer tokens: hashed, in memory.

Filled by `handler` at its first request (the admin's token, a file of static ones); asked by
`authentication` for every request. Those of service accounts are in `registry.service_accounts`.
"""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from listwatch.registry.context import UserInfo

if TYPE_CHECKING:
    from listwatch.conf import Options

ADMIN = UserInfo("admin", groups=("system:masters", "system:authenticated"))
CONTROLLERS = UserInfo(
    "system:kube-controller-manager", groups=("system:masters", "system:authenticated")
)


class Tokens:
    """Which token is whose. Keeps only digests, so that a dump of memory or log shows none."""

    def __init__(self) -> None:
        self._users: dict[bytes, UserInfo] = {}

    def add(self, token: str, user: UserInfo) -> None:
        """Let this token be that user's from now on."""
        self._users[_digest(token)] = user

    def remove(self, token: str) -> None:
        """Let it be nobody's."""
        self._users.pop(_digest(token), None)

    def user(self, token: str) -> UserInfo | None:
        """Whose it is; None if it is nobody's."""
        return self._users.get(_digest(token))

    def read_file(self, path: Path) -> None:
        """Add what a file in kube-apiserver's form says: `token,user,uid,"group,group"` a line.

        Raises ValueError that names the line if one has less than three fields.
        """
        with path.open(newline="") as lines:
            for number, fields in enumerate(csv.reader(lines, skipinitialspace=True), 1):
                if not fields or not fields[0].strip():
                    continue
                if len(fields) < 3:
                    raise ValueError(f"{path}:{number}: a token needs token,user,uid")
                token, name, uid, *more = (field.strip() for field in fields)
                groups = [group.strip() for group in more[0].split(",")] if more else []
                groups = [group for group in groups if group] + ["system:authenticated"]
                self.add(token, UserInfo(name, uid, tuple(dict.fromkeys(groups))))

    @classmethod
    def from_options(cls, options: Options) -> Tokens:
        """The admin's token, given or kept in the data folder, the controllers', static ones."""
        tokens = cls()
        kept = options.data / "token"
        token = options.token or (kept.read_text().strip() if kept.is_file() else "")
        if token:
            tokens.add(token, ADMIN)
        controllers = options.data / "controllers-token"
        if controllers.is_file() and (token := controllers.read_text().strip()):
            tokens.add(token, CONTROLLERS)
        if options.token_auth_file:
            tokens.read_file(Path(options.token_auth_file))
        return tokens


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogateescape")).digest()
