"""Text that a form carries along, packed: what the object was when the form was opened."""

from __future__ import annotations

import base64
import binascii
import zlib

LIMIT = 16 * 1024 * 1024  # of the text; a form can send anything


def pack(text: str) -> str:
    """A text as a line of letters."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"))).decode()


def unpack(packed: str) -> str:
    """The text again; '' if it is none that `pack` made."""
    try:
        expander = zlib.decompressobj()
        data = expander.decompress(base64.b64decode(packed, validate=True), LIMIT)
        return data.decode("utf-8", "surrogatepass") if expander.eof else ""
    except (binascii.Error, zlib.error, UnicodeDecodeError, ValueError):
        return ""
