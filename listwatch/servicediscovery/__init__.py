"""Service discovery as Dubbo does it: instances from Endpoints, by bare watch and by informer."""

from __future__ import annotations
