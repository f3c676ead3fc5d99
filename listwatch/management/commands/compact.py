"""`compact`: forget old changes now, as etcd's command of that name does."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from listwatch.management.options import add_data
from listwatch.store.compaction import compact
from listwatch.store.reads import head


class Command(BaseCommand):
    """Compacts the log, beside a running server too: watches that go on do not notice."""

    help = "Forget the changes that are older than a revision."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The folder and the revision."""
        add_data(parser)
        parser.add_argument(
            "--revision", type=int, help="the oldest state that stays readable; default the newest"
        )  # fmt: skip

    def handle(self, *args: Any, **given: Any) -> None:
        """Compact, and say how much went."""
        now = head()
        revision = now.current if given["revision"] is None else given["revision"]
        if not 0 <= revision <= now.current:
            raise CommandError(f"there is no revision {revision}: the newest is {now.current}")
        if revision <= now.compacted:
            raise CommandError(f"compacted to revision {now.compacted} already")
        removed = compact(revision)
        self.stdout.write(f"compacted to revision {revision}: {removed} changes removed")
