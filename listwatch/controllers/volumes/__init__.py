"""Volumes and the claims to them: found, made, held while in use, and given back.

`matching` says which volume suits a claim, `binder` binds and releases, `classes` has the class
that is there from the start, `ephemeral` makes the claims of pods, `protection` lets go of what
nobody uses. `scheduler` asks `matching`, too.
"""

from __future__ import annotations
