"""Static files in ASGI, from where Django's finders find them: no collectstatic, no middleware.

WhiteNoise knows types, ETags, ranges and what is unchanged; here its answers become ASGI messages.
The pages that use the files are the business of `dashboard` and `admin`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from django.contrib.staticfiles import finders
from django.core.exceptions import SuspiciousFileOperation
from whitenoise import WhiteNoise
from whitenoise.responders import NotARegularFileError

if TYPE_CHECKING:
    from listwatch.serving.application import Receive, Scope, Send


class _Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


_NOT_FOUND = _Answer(404, [("Content-Type", "text/plain; charset=utf-8")], b"Not found\n")


class StaticFiles:
    """Answers GET and HEAD below one path, each time by what lies on disk then."""

    def __init__(self, path: str) -> None:
        self._path = path
        # Names carry no version, so a browser asks each time; the answer is mostly 304.
        self._noise = WhiteNoise(None, max_age=0, allow_all_origins=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, in ASGI; the disk is read in a thread."""
        answer = await asyncio.to_thread(self._answer, scope)
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in answer.headers
        ]
        headers.append((b"x-content-type-options", b"nosniff"))
        await send(
            {"type": "http.response.start", "status": answer.status, "headers": headers}
        )  # fmt: skip
        await send({"type": "http.response.body", "body": answer.body})

    def _answer(self, scope: Scope) -> _Answer:
        path: str = scope["path"]
        name = path.removeprefix(self._path)
        try:
            found = finders.find(name) if name and not name.endswith("/") else None
            if not found:
                return _NOT_FOUND
            file = self._noise.get_static_file(str(found), path)
        except (SuspiciousFileOperation, NotARegularFileError, OSError, ValueError):
            return _NOT_FOUND  # a path out of the folder, a folder, or no path at all
        # WhiteNoise reads headers as WSGI has them.
        headers = {
            f"HTTP_{key.decode('latin-1').upper().replace('-', '_')}": value.decode("latin-1")
            for key, value in scope["headers"]
        }
        response = file.get_response(scope["method"], headers)
        if response.file is None:
            return _Answer(int(response.status), response.headers, b"")
        with response.file:
            return _Answer(int(response.status), response.headers, response.file.read())
