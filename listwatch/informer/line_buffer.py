"""Bytes into lines: however a network cuts them, a line is decoded when it is whole.

Used by `client` for the frames of a watch.
"""

from __future__ import annotations

MOST_BYTES = 64 * 1024 * 1024  # of one line; a server's objects are below 3 MiB


class LineTooLongError(ValueError):
    """A line that does not end."""


class LineBuffer:
    """Holds the part of a line that has come so far. Never decodes a part of a character."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._most = most

    @property
    def pending(self) -> int:
        """Bytes of a line that has not ended."""
        return self._size

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without their ends and without empty ones."""
        head, newline, rest = chunk.partition(b"\n")
        if not newline:
            self._keep(head)
            return []
        # Joined once a line ends: a long line in small chunks costs no more than its size.
        lines = [b"".join([*self._parts, head])]
        self._parts, self._size = [], 0
        *whole, last = rest.split(b"\n")
        self._keep(last)
        return [line for line in (*lines, *whole) if line.strip()]

    def _keep(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._size += len(part)
        if self._size > self._most:
            raise LineTooLongError(f"a line of more than {self._most} bytes")
