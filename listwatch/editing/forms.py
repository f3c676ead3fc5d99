"""The fields of forms: an object's text with where it began, and how to delete."""

from __future__ import annotations

from typing import Any

from django import forms

from listwatch.protocol.kinds import Resource
from listwatch.protocol.options import DeleteOptions

POLICIES = (
    ("Background", "Background: the object now, its dependents afterwards"),
    ("Foreground", "Foreground: its dependents first"),
    ("Orphan", "Orphan: leave its dependents"),
)


class ObjectForm(forms.Form):
    """The text of an object, and the state that it was made from.

    `base` is that state as text, packed; `revision` and `uid` are its marks, empty for a new one.
    """

    document = forms.CharField(
        label="YAML",
        strip=False,
        required=False,
        widget=forms.Textarea(
            attrs={
                "rows": 28,
                "cols": 100,
                "spellcheck": "false",
                "autocapitalize": "off",
                "autocomplete": "off",
                "wrap": "off",
                "data-editor": "",
            }
        ),
    )
    revision = forms.CharField(required=False, widget=forms.HiddenInput)
    uid = forms.CharField(required=False, widget=forms.HiddenInput)
    base = forms.CharField(required=False, widget=forms.HiddenInput)


class DeleteForm(forms.Form):
    """How to delete; `revision` and `uid` are those of the object that was shown."""

    policy = forms.ChoiceField(choices=POLICIES, widget=forms.RadioSelect, initial="Background")
    grace = forms.IntegerField(
        label="Grace period in seconds",
        min_value=0,
        max_value=2**31 - 1,
        required=False,
        help_text="Empty: what the pod itself says. 0: at once, without waiting for its node.",
    )
    revision = forms.CharField(required=False, widget=forms.HiddenInput)
    uid = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, resource: Resource, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if resource.kind != "Pod":
            del self.fields["grace"]

    def options(self) -> DeleteOptions:
        """The options of a valid form."""
        data = self.cleaned_data
        return DeleteOptions(
            grace_period_seconds=data.get("grace"),
            uid=data["uid"],
            resource_version=data["revision"],
            propagation_policy=data["policy"],
        )
