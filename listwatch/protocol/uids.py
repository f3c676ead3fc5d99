"""Random identities: an object's uid, a request's audit id."""

from __future__ import annotations

import os

_TOGETHER = 256

_stock: list[str] = []
os.register_at_fork(after_in_child=_stock.clear)  # a child must not give out its parent's


def new_uid() -> str:
    """A version 4 UUID of the system's randomness, as text; for any thread.

    The randomness of many is fetched at once: each fetch would let go of the interpreter's lock,
    and a busy event loop would wait for its turn again.
    """
    while True:
        try:
            return _stock.pop()
        except IndexError:
            random = os.urandom(16 * _TOGETHER).hex()
            _stock.extend(_text(random[start : start + 32]) for start in range(0, len(random), 32))


def _text(digits: str) -> str:
    """RFC 9562: the version in the thirteenth digit, the variant in the seventeenth's high bits."""
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
