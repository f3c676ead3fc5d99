from __future__ import annotations

from dashboard.tabular import Row, TableChanges


def test_the_first_answer_is_everything_and_says_so() -> None:
    changes = TableChanges()

    assert changes.update([{"id": "a", "n": 1}]) == {
        "all": True,
        "order": ["a"],
        "rows": [{"id": "a", "n": 1}],
    }


def test_an_empty_table_is_told_once() -> None:
    changes = TableChanges()

    assert changes.update([]) == {"all": True, "order": []}
    assert changes.update([]) is None


def test_only_rows_that_changed_are_sent_again() -> None:
    changes = TableChanges()
    changes.update([{"id": "a", "n": 1}, {"id": "b", "n": 1}])

    assert changes.update([{"id": "a", "n": 1}, {"id": "b", "n": 2}]) == {
        "rows": [{"id": "b", "n": 2}]
    }


def test_a_new_row_in_front_brings_the_order_with_it() -> None:
    changes = TableChanges()
    changes.update([{"id": "a"}, {"id": "b"}])

    answer = changes.update([{"id": "c"}, {"id": "a"}])

    assert answer == {"rows": [{"id": "c"}], "gone": ["b"], "order": ["c", "a"]}


def test_whoever_applies_every_answer_has_the_rows_given_last() -> None:
    states: list[list[Row]] = [
        [{"id": "a", "n": 0}],
        [{"id": "b", "n": 0}, {"id": "a", "n": 0}],
        [{"id": "a", "n": 1}, {"id": "b", "n": 0}],
        [],
        [{"id": "c", "n": 3}],
    ]
    changes = TableChanges()
    browser: dict[str, Row] = {"stale": {"id": "stale"}}
    for rows in states:
        answer = changes.update(rows)
        if answer is not None:
            if answer.get("all"):
                browser = {}
            for key in answer.get("gone", []):
                del browser[key]
            for row in answer.get("rows", []):
                browser[row["id"]] = row
            if "order" in answer:
                browser = {key: browser[key] for key in answer["order"]}

        assert list(browser.values()) == rows
