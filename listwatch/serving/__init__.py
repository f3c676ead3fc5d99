"""How the server starts and stops: Granian or Daphne, TLS, the data folder, kubeconfig and login link."""

from __future__ import annotations
