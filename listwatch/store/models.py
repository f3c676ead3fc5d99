"""The three tables: what is stored, the log of every change, and the counter that orders them.

Rows are written by `transactions` alone, in SQL; these models give the tables, their migrations,
and querysets to look with. What would write past the log is refused, or routed, by `managers`.
"""

from __future__ import annotations

from typing import ClassVar, NoReturn

from django.db import DEFAULT_DB_ALIAS, models

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import Encoded, key_of
from listwatch.protocol.versions import ChangeType
from listwatch.store.fields import ByteOrderField
from listwatch.store.managers import ReadOnlyManager, StoredObjectManager, WriteRefused
from listwatch.store.writes import Create, Delete, Update, write


class Head(models.Model):
    """One row: how far the log has come.

    At commit `current` is the number of the newest Change, always: the row is locked from the
    moment that a number is taken until the transaction ends. Every state from `compacted` on can
    be read; Changes that no such state needs are gone up to `swept`.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    current = models.BigIntegerField(default=0)
    compacted = models.BigIntegerField(default=0)
    swept = models.BigIntegerField(default=0)

    objects: ClassVar[models.Manager[Head]] = ReadOnlyManager()

    class Meta:  # noqa: D106 (Django's word)
        verbose_name_plural = "head"
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(swept__lte=models.F("compacted"))
                & models.Q(compacted__lte=models.F("current")),
                name="listwatch_head_in_order",
            ),
        ]

    def __str__(self) -> str:
        return str(self.current)

    def save_base(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused: only writing an object moves the counter."""
        raise WriteRefused("Head is moved by listwatch.store.writes.write alone")

    def delete(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused."""
        raise WriteRefused("Head cannot be deleted")


class StoredObject(models.Model):
    """The newest state of one object. `body` carries no resourceVersion: `revision` is it.

    `key` is `namespace/name`, or `name` for what stands in no namespace. `save` and `delete` go
    through the log: `save` of a loaded object succeeds only if nobody has written it since.
    """

    group = ByteOrderField(blank=True, default="")
    resource = ByteOrderField()
    key = ByteOrderField(editable=False)
    namespace = ByteOrderField(blank=True, default="")
    name = ByteOrderField()
    uid = models.TextField()
    revision = models.BigIntegerField(editable=False)
    splice = models.IntegerField()
    body = models.BinaryField()

    objects: ClassVar[models.Manager[StoredObject]] = StoredObjectManager()

    class Meta:  # noqa: D106 (Django's word)
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["group", "resource", "key"], name="listwatch_object"),
        ]
        # Whether a namespace is empty is asked inside transactions, with the log locked.
        indexes: ClassVar = [models.Index(fields=["namespace"], name="listwatch_namespace")]

    def __str__(self) -> str:
        return f"{self.group_resource} {self.key}"

    def save(self, *args: object, **kwargs: object) -> None:
        """Write through the log; raises what `writes.write` does.

        The whole object is written, so `update_fields` and the like are refused.
        """
        if args or kwargs.keys() - {"using", "force_insert"}:
            raise WriteRefused("StoredObject.save() writes the whole object and takes no options")
        operation: Create | Update
        if self._state.adding:
            operation = Create(
                self.group_resource, self.namespace, self.name, self.uid, self.encoded
            )
        else:
            operation = Update(
                self.group_resource, self.namespace, self.name, self.revision, self.encoded,
            )  # fmt: skip
        self.revision = write(operation).revision
        if self._state.adding:
            self.key = key_of(self.namespace, self.name)
            row = StoredObject.objects.filter(group=self.group, resource=self.resource)
            self.pk = row.filter(key=self.key).values_list("pk", flat=True).first()
            self._state.adding, self._state.db = False, DEFAULT_DB_ALIAS

    def save_base(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused: this is how `loaddata` would write past the log."""
        raise WriteRefused("use listwatch.store.writes.write: the log must know of every write")

    def delete(self, *args: object, **kwargs: object) -> tuple[int, dict[str, int]]:
        """Delete through the log; raises what `writes.write` does."""
        write(
            Delete(
                self.group_resource, self.namespace, self.name, self.revision, self.encoded,
            )
        )  # fmt: skip
        self.pk = None
        return 1, {self._meta.label: 1}

    @property
    def group_resource(self) -> GroupResource:
        """The resource that this is an object of."""
        return GroupResource(self.group, self.resource)

    @property
    def encoded(self) -> Encoded:
        """The body and the place of its resourceVersion."""
        return Encoded(bytes(self.body), self.splice)


class Change(models.Model):
    """One row of the log. `revision` is its number and the resourceVersion that it made.

    `body` is the new state; of a deletion, the last state that the object had. `previous_revision`
    is the object's revision before, 0 if there was none.
    """

    revision = models.BigIntegerField(primary_key=True)
    group = ByteOrderField()
    resource = ByteOrderField()
    key = ByteOrderField()
    namespace = ByteOrderField()
    name = ByteOrderField()
    uid = models.TextField()
    type = models.TextField(choices=[(str(type_), str(type_)) for type_ in ChangeType])
    previous_revision = models.BigIntegerField()
    splice = models.IntegerField()
    body = models.BinaryField()
    committed_at = models.FloatField()

    objects: ClassVar[models.Manager[Change]] = ReadOnlyManager()

    class Meta:  # noqa: D106 (Django's word)
        indexes: ClassVar = [
            models.Index(fields=["group", "resource", "revision"], name="listwatch_resource_log"),
            models.Index(
                fields=["group", "resource", "key", "revision"], name="listwatch_object_log"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.revision} {self.type} {GroupResource(self.group, self.resource)} {self.key}"

    def save_base(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused: the log is written by writing objects."""
        raise WriteRefused("the log is written by listwatch.store.writes.write alone")

    def delete(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused: the log is shortened by compacting it."""
        raise WriteRefused("the log is shortened by listwatch.store.compaction.compact alone")
