"""Warnings for people, as headers that kubectl prints."""

from __future__ import annotations

from listwatch.protocol.kinds import GroupVersionKind

# Resources that are on their way out: whoever uses them in any way is told.
DEPRECATIONS = {
    GroupVersionKind("", "v1", "ComponentStatus"): "v1 ComponentStatus is deprecated in v1.19+",
    GroupVersionKind("", "v1", "Endpoints"): (
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    ),
}
_LONGEST = 256  # characters of one, once they are many
_TOTAL = 4096  # bytes of all: proxies refuse more


def warning_headers(warnings: list[str]) -> list[tuple[bytes, bytes]]:
    """One header a warning, doubles left out; many long ones are cut, and the rest is dropped."""
    texts = list(dict.fromkeys(warnings))
    if sum(len(text) for text in texts) > _TOTAL:
        texts = [text[:_LONGEST] for text in texts]
    headers, left = [], _TOTAL
    for text in texts:
        value = f'299 - "{_quoted(text)}"'.encode()
        left -= len(value)
        if left < 0:
            break
        headers.append((b"warning", value))
    return headers


def _quoted(text: str) -> str:
    plain = "".join(c if c.isprintable() else " " for c in text)
    return plain.replace("\\", "\\\\").replace('"', '\\"')
