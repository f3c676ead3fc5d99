"""Which live things a page may start, by the `kind` of its message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard.attachments import attach_watcher
from dashboard.informers.attachment import attach_informer
from dashboard.learn.comparison import attach_comparison
from dashboard.learn.lesson import attach_lesson
from dashboard.learn.way import attach_way

if TYPE_CHECKING:
    from dashboard.attached import Maker

MAKERS: dict[str, Maker] = {
    "watch": attach_watcher,
    "informer": attach_informer,
    "lesson": attach_lesson,
    "way": attach_way,
    "comparison": attach_comparison,
}
