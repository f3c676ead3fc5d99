"""What happened to an object since a form was opened, in the words that every form uses.

The name alone does not tell whether it is still the same object: the UID does. Used by `form` and
by the pages that delete.
"""

from __future__ import annotations

from typing import NamedTuple

from listwatch.protocol.objects import JSONObject


class Meanwhile(NamedTuple):
    """A title to stand behind `Not saved:` or `Not deleted:`, and a sentence below it."""

    title: str
    words: str


def meanwhile(revision: str, uid: str, now: JSONObject | None) -> Meanwhile:
    """From what a form began with, and the marks of what stands under the name now."""
    if now is None:
        return Meanwhile("the object is gone", "It was deleted after you began.")
    current = now["resourceVersion"]
    if uid and now["uid"] != uid:
        return Meanwhile(
            "it is another object now",
            f"The one that you began with was deleted, and another was created under its name: "
            f"that is at revision {current} now.",
        )
    return Meanwhile(
        "the object has moved on",
        f"You began with revision {revision}; it is at {current} now.",
    )
