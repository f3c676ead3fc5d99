"""Objects of the built-in kinds for property tests, made of the message tables."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from listwatch.schemas import facts

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXT,
    "bytes": st.sampled_from(["YQ==", "YWI=", "YWJj"]),
    "bool": st.just(True),
    "int32": st.integers(-(1 << 31), (1 << 31) - 1).filter(bool),
    "int64": st.integers(-(1 << 63), (1 << 63) - 1).filter(bool),
    "double": st.floats(allow_nan=False, allow_infinity=False).filter(bool),
    "Time": st.just("2001-02-03T04:05:06Z"),
    "MicroTime": st.just("2001-02-03T04:05:06.000007Z"),
    "Quantity": st.sampled_from(["1", "500m", "1Gi"]),
    "IntOrString": st.one_of(st.integers(-(1 << 31) + 1, (1 << 31) - 1), TEXT),
    "FieldsV1": st.just({"f:x": {}}),
    "RawExtension": st.just({"a": [1]}),
    # Messages that JSON writes as one of two forms.
    "JSONSchemaPropsOrArray": st.sampled_from([{"type": "string"}, [{"type": "string"}]]),
    "JSONSchemaPropsOrBool": st.sampled_from([{"type": "string"}, True]),
    "ExtraValue": st.lists(TEXT, min_size=1, max_size=2),  # a message that JSON writes as a list
}


@st.composite
def documents(draw: st.DrawFn, message: str, depth: int = 0) -> dict[str, Any]:
    """Objects in normal form of some fields of a message."""
    rows = facts.message(message) or []
    result: dict[str, Any] = {}
    for _, name, label, kind, flags in draw(st.lists(st.sampled_from(rows), max_size=4)):
        if "i" in flags:
            result |= draw(documents(kind, depth))
            continue
        value = kind[1] if label == "map" else kind
        strategy = SCALARS.get(value.rpartition(".")[2])
        if strategy is None:
            if depth > 4 or not facts.message(value):
                continue
            strategy = documents(value, depth + 1)
        if label == "map":
            strategy = st.dictionaries(TEXT, strategy, min_size=1, max_size=2)
        elif label == "repeated":
            strategy = st.lists(strategy, min_size=1, max_size=2)
        result[name] = draw(strategy)
    return result
