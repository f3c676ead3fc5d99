"""The seam for ordinary Django models: their rows are listed and watched over the same log.

`register_model` makes every save and delete of a model write its object into the store, in the
same transaction as the row. What follows is as for any other object: `signals`, `changefeed`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial, wraps
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, models, router, transaction
from django.db.models.signals import ModelSignal, post_delete, pre_delete

from listwatch.protocol.clock import Clock, SystemClock, rfc3339
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import JSONObject, decode, encode
from listwatch.protocol.uids import new_uid
from listwatch.store import reads
from listwatch.store.seam_querysets import log_managers
from listwatch.store.transactions import lock_log
from listwatch.store.writes import Create, Delete, Update, write

Row = TypeVar("Row", bound=models.Model)
Key = tuple[str, str]  # namespace and name
Keys = dict[Any, Key | None]  # by primary key, whatever that is; None: the row has no object

_registered: dict[type[models.Model], Registration[Any]] = {}  # Any: rows of any model
_SETS_OTHERS = {models.CASCADE, models.PROTECT, models.RESTRICT, models.DO_NOTHING}


def register_model(
    model: type[Row],
    group_resource: GroupResource,
    to_object: Callable[[Row], JSONObject | None],
    *,
    clock: Clock | None = None,
) -> Registration[Row]:
    """Have the rows of a model stored as objects too, from now on; called once, at start.

    `to_object` makes a row an object with kind, apiVersion and metadata.name (and namespace), or
    None if the row is to have none. Two rows must never make the same name. It is given the row as
    the database has it. uid and creationTimestamp are added where it leaves them out. A row that
    is saved without its object changing makes no change.

    Covered: save, delete, cascades and other on_delete rules, update(), bulk_create() and
    bulk_update() of the model's managers, fixtures. Not covered, because Django tells nobody: raw
    SQL, and managers with a get_queryset of their own that does not call super(). After such, and
    for rows from before, call `reconcile`.

    While a transaction has saved such a row and not ended yet, all other writes wait.
    """
    if model in _registered:
        raise ValueError(f"{model.__name__} is registered already")
    registration = Registration(model, group_resource, to_object, clock or SystemClock())
    _registered[model] = registration
    registration.connect()
    return registration


class Registration(Generic[Row]):
    """One registered model; made by `register_model`."""

    def __init__(
        self,
        model: type[Row],
        group_resource: GroupResource,
        to_object: Callable[[Row], JSONObject | None],
        clock: Clock,
    ) -> None:
        self.model = model
        self.group_resource = group_resource
        self._to_object = to_object
        self._clock = clock
        self._undo: list[Callable[[], None]] = []

    def connect(self) -> None:
        """Begin; called by `register_model`."""
        self._wrap_save()
        self._undo += log_managers(self.model, self.written)
        for sender in _with_proxies(self.model):
            self._listen(sender, self._row_goes, None)
        for field in self.model._meta.fields:
            remote = field.remote_field
            if remote is not None and remote.on_delete not in _SETS_OTHERS:
                self._listen_to_target(field)

    def disconnect(self) -> None:
        """Leave the model as it was; what is stored stays."""
        for undo in reversed(self._undo):
            undo()
        self._undo = []
        _registered.pop(self.model, None)

    def reconcile(self) -> int:
        """Make the stored objects agree with the rows; returns how many had to change."""
        with transaction.atomic():
            self._lock()
            before: Keys = {
                ("stored", stored.namespace, stored.name): (stored.namespace, stored.name)
                for stored in reads.objects(self.group_resource)
            }
            return self._record(self.model._base_manager.all(), before)

    def written(
        self, write_rows: Callable[[], Any], pks: Callable[[], Collection[Any]], using: str
    ) -> Any:  # Any: whatever the caller's function returns; primary keys
        """Write rows by a function, and their objects with them: all or none.

        `pks` is asked before and after it which rows are concerned.
        """
        self._refuse_other_database(using)
        with transaction.atomic():
            # Before the rows: who waits for the log must hold no lock that others wait for.
            self._lock()
            before = self._keys(pks())
            result = write_rows()
            self._record(self._rows({*before, *pks()}), before)
        return result

    def _lock(self) -> None:
        with connection.cursor() as cursor:
            lock_log(cursor)

    def _rows(self, pks: Collection[Any]) -> models.QuerySet[Row]:
        return self.model._base_manager.filter(pk__in=pks)

    def _keys(self, pks: Collection[Any]) -> Keys:
        keys: Keys = {}
        for row in self._rows(pks) if pks else ():
            document = self._to_object(row)
            keys[row.pk] = None if document is None else _key(document)
        return keys

    def _record(self, rows: models.QuerySet[Row], before: Mapping[Any, Key | None]) -> int:
        """Store the objects of these rows; remove those of the keys before that none has now."""
        documents = [document for row in rows if (document := self._to_object(row)) is not None]
        gone = {key for key in before.values() if key is not None}
        gone -= {_key(document) for document in documents}
        removed = sum(self._remove(key) for key in sorted(gone))
        return removed + sum(self._store(document) for document in documents)

    def _store(self, document: JSONObject) -> bool:
        namespace, name = key = _key(document)
        stored = reads.get(self.group_resource, *key)
        given = {k: v for k, v in document["metadata"].items() if k not in ("name", "namespace")}
        if stored is None:
            kept = {"uid": new_uid(), "creationTimestamp": rfc3339(self._clock.now())}
        else:
            metadata = decode(stored.encoded, stored.revision)["metadata"]
            kept = {"uid": stored.uid, "creationTimestamp": metadata.get("creationTimestamp")}
        named = {"name": name, "namespace": namespace} if namespace else {"name": name}
        encoded = encode({**document, "metadata": {**named, **kept, **given}})
        if stored is None:
            uid = str(given.get("uid") or kept["uid"])
            write(Create(self.group_resource, *key, uid, encoded), clock=self._clock)
        elif stored.encoded != encoded:
            write(
                Update(self.group_resource, *key, stored.revision, encoded), clock=self._clock
            )  # fmt: skip
        else:
            return False
        return True

    def _remove(self, key: Key) -> bool:
        stored = reads.get(self.group_resource, *key)
        if stored is not None:
            write(
                Delete(self.group_resource, *key, stored.revision, stored.encoded),
                clock=self._clock,
            )
        return stored is not None

    def _wrap_save(self) -> None:
        # Not the signal post_save: it is sent after the row has been committed.
        own = self.model.__dict__.get("save_base")
        save_base: Callable[..., None] = self.model.save_base

        @wraps(save_base)
        def logged(row: Row, *args: Any, **kwargs: Any) -> None:  # Any: as Django has it
            alias = kwargs.get("using") or router.db_for_write(type(row), instance=row)
            self.written(
                lambda: save_base(row, *args, **{**kwargs, "using": alias}),
                lambda: [] if row.pk is None else [row.pk],
                alias,
            )

        def undo() -> None:
            if own is None:
                del self.model.save_base
            else:
                self.model.save_base = own  # type: ignore[method-assign]

        self.model.save_base = logged  # type: ignore[method-assign, assignment]
        self._undo.append(undo)

    def _row_goes(self, instance: models.Model, using: str, **_: Any) -> None:
        # Before the row goes: the instance may have been changed since it was read. Django has
        # opened a transaction around all that a deletion takes with it.
        self._refuse_other_database(using)
        self._lock()
        for key in self._keys([instance.pk]).values():
            if key is not None:
                self._remove(key)

    def _listen_to_target(self, field: models.Field[Any, Any]) -> None:
        """On a deletion that sets a foreign key of ours to something else, by SET_NULL and such."""
        before: dict[int, Keys] = {}

        def goes(instance: models.Model, using: str, **_: Any) -> None:
            self._refuse_other_database(using)
            self._lock()
            rows = self.model._base_manager.filter(**{field.name: instance})
            before[id(instance)] = self._keys(list(rows.values_list("pk", flat=True)))

        def gone(instance: models.Model, **_: Any) -> None:
            keys = before.pop(id(instance), {})
            self._record(self._rows(keys), keys)

        assert field.related_model is not None
        for sender in _with_proxies(field.related_model):
            self._listen(sender, goes, gone)

    def _listen(
        self,
        sender: type[models.Model],
        before: Callable[..., None],
        after: Callable[..., None] | None,
    ) -> None:
        for signal, receiver in ((pre_delete, before), (post_delete, after)):
            if receiver is not None:
                signal.connect(receiver, sender=sender, weak=False)
                self._undo.append(partial(_disconnect, signal, receiver, sender))

    def _refuse_other_database(self, using: str) -> None:
        if using != DEFAULT_DB_ALIAS:
            raise ValueError(
                f"{self.model.__name__} is registered with the log, which is in the database"
                f" {DEFAULT_DB_ALIAS!r}: it cannot be written in {using!r}"
            )


def _disconnect(
    signal: ModelSignal, receiver: Callable[..., None], sender: type[models.Model]
) -> None:  # fmt: skip
    signal.disconnect(receiver, sender=sender)


def _key(document: JSONObject) -> Key:
    return document["metadata"].get("namespace") or "", document["metadata"]["name"]


def _with_proxies(model: type[models.Model]) -> list[type[models.Model]]:
    # Django names the class of the instance as the sender, and that may be a proxy.
    found = [model]
    for below in model.__subclasses__():
        if below._meta.proxy:
            found += _with_proxies(below)
    return found
