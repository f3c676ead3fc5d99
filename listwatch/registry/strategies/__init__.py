"""What is special about single kinds, between a decoded body and its validation.

A Strategy says what the server sets and keeps, when a generation counts up, how a kind is deleted;
facts that are data (schemas, defaults, columns) are in `schemas`. Asked by the verbs.
"""

from __future__ import annotations
