"""Scenarios for any API server: what list-watch promises, and informers that live on it.

`python -m listwatch.informer.check --url ... --token ...` runs them in a namespace of their own.
Scenarios are in `protocol` (single requests) and `informers` (the whole stack); `stage` holds what
they share; the verdicts go to a person, or as JSON to a program.
"""

from __future__ import annotations
