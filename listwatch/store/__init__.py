"""The truth: what is stored, the log of every change, and the one counter that orders them.

A Django app. Models, the writing transaction with group commit, reads as of any retained revision,
and compaction. It knows neither kinds nor users: bodies are bytes. Every committed change goes on
to `changefeed` by the signal `changes_committed` and, whatever becomes of that, by the log.
"""

from __future__ import annotations
