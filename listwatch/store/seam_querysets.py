"""What `seam` does to the managers of a registered model: writes of many rows are logged as well.

Django sends no signal for them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Protocol

from django.db import NotSupportedError, models


class Written(Protocol):
    """`seam.Registration.written`."""

    def __call__(
        self, write_rows: Callable[[], Any], pks: Callable[[], Collection[Any]], using: str
    ) -> Any:  # Any: as there
        """Write rows and log them."""


def log_managers(model: type[models.Model], written: Written) -> list[Callable[[], None]]:
    """Have all managers of the model log their writes; returns what undoes it."""
    undo: list[Callable[[], None]] = []
    managers = {id(each): each for each in [*model._meta.local_managers, *model._meta.managers]}
    for manager in managers.values():
        original: Any = type(manager)  # Any: what its queryset class is, the stubs do not know
        # By class: the managers of relations are derived from it.
        manager.__class__ = type(
            original.__name__,
            (original,),
            {
                "__module__": original.__module__,
                "__qualname__": original.__qualname__,
                "_queryset_class": _logged(original._queryset_class, model, written),  # noqa: SLF001
            },
        )
        undo.append(partial(_restore, manager, original))
    return undo


def _restore(manager: models.Manager[Any], original: type[models.Manager[Any]]) -> None:
    manager.__class__ = original


def _logged(original: type[Any], model: type[models.Model], written: Written) -> type[Any]:
    # Any: a QuerySet class of whatever kind the manager has
    class Logged(original):  # type: ignore[misc]
        def update(self, **kwargs: Any) -> int:  # Any: as Django has it, here and below
            if not issubclass(self.model, model):
                return int(super().update(**kwargs))
            if self.query.is_sliced:
                raise TypeError("Cannot update a query once a slice has been taken.")
            rows = list(self.values_list("pk", flat=True))
            update = super().update
            return int(written(lambda: update(**kwargs), lambda: rows, self.db))

        def bulk_create(self, objs: Any, *args: Any, **kwargs: Any) -> Any:
            create = super().bulk_create
            if not issubclass(self.model, model):
                return create(objs, *args, **kwargs)
            if kwargs.get("ignore_conflicts") or kwargs.get("update_conflicts"):
                raise NotSupportedError(
                    f"{self.model.__name__} is registered with the log, and bulk_create() does not"
                    " tell which rows it wrote after a conflict: use update_or_create()"
                )
            rows = list(objs)
            return written(
                lambda: create(rows, *args, **kwargs),
                lambda: [row.pk for row in rows if row.pk is not None],
                self.db,
            )

    Logged.__name__, Logged.__qualname__ = original.__name__, original.__qualname__
    Logged.__module__ = original.__module__
    return Logged
