#!/usr/bin/env python3
"""The project's commands: `python manage.py serve` starts listwatch."""

from __future__ import annotations

from listwatch.management import main

if __name__ == "__main__":
    main()
