"""Models that know nothing of the store."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models


class Shelf(models.Model):
    name = models.CharField(max_length=20, unique=True)

    objects: ClassVar[models.Manager[Shelf]] = models.Manager()

    class Meta:
        app_label = "shop"

    def __str__(self) -> str:
        return self.name


class Label(models.Model):
    text = models.CharField(max_length=20)

    objects: ClassVar[models.Manager[Label]] = models.Manager()

    class Meta:
        app_label = "shop"

    def __str__(self) -> str:
        return self.text


class Cheap(models.QuerySet["Book"]):
    def cheap(self) -> Cheap:
        return self.filter(price__lt=10)


class Book(models.Model):
    shelf = models.ForeignKey(Shelf, on_delete=models.CASCADE, related_name="books")
    label = models.ForeignKey(Label, on_delete=models.SET_NULL, null=True)
    slug = models.CharField(max_length=20, unique=True)
    price = models.IntegerField(default=0)
    secret = models.BooleanField(default=False)

    objects = Cheap.as_manager()

    class Meta:
        app_label = "shop"

    def __str__(self) -> str:
        return self.slug


class Volume(Book):
    class Meta:
        app_label = "shop"
        proxy = True


def book_object(book: Book) -> dict[str, Any] | None:  # Any: JSON
    if book.secret:
        return None
    return {
        "kind": "Book",
        "apiVersion": "shop.example/v1",
        "metadata": {"name": book.slug, "namespace": book.shelf.name},
        "spec": {"price": book.price, "label": book.label.text if book.label else None},
    }
