"""What a page keeps is bounded, and a revision is never a number: the modules, tried in a browser.

Live views that grow for ever, or that round revisions above 2^53, are public reports on consoles
(kubernetes-sigs/headlamp#6745, kubernetes-client/javascript#516).
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.dashboard.journeys.conftest import Visit

SCRIPTS = Path(__file__).resolve().parents[3] / "static" / "dashboard"
TABLE = """
  const template = document.createElement('template');
  template.id = 'bound-row';
  const spark = '<svg class="spark-row"><path d=""/></svg>';
  template.innerHTML = `<tr><td data-text="id"></td><td>${spark}</td></tr>`;
  document.body.append(template);
  const body = document.createElement('tbody');
  body.dataset.template = 'bound-row';
  document.body.append(document.createElement('table'));
  document.querySelector('body > table').append(body);
  const {KeyedTable} = await import('/static/dashboard/tables.js');
"""


def test_a_table_forgets_the_rows_beyond_its_bound(visit: Visit) -> None:
    page = visit("/dashboard/patterns/")
    kept = page.evaluate(f"""async () => {{{TABLE}
      const table = new KeyedTable(body, {{limit: 50}});
      for (let n = 0; n < 2000; n++) table.put({{id: String(n)}}, {{front: true}});
      return [table.size, table.records.size, body.rows.length, body.rows[0].cells[0].textContent];
    }}""")

    assert kept == [50, 50, 50, "1999"]


def test_revisions_that_a_number_cannot_tell_apart_are_two_rows(visit: Visit) -> None:
    page = visit("/dashboard/patterns/")
    texts = page.evaluate(f"""async () => {{{TABLE}
      const table = new KeyedTable(body);
      const [one, other] = ['18014398509481984', '18014398509481985'];
      for (const id of [one, other, one]) table.put({{id}});
      return [...body.rows].map((row) => row.cells[0].textContent);
    }}""")

    assert texts == ["18014398509481984", "18014398509481985"]


def test_sparks_are_bounded_and_forget_rows_that_are_gone(visit: Visit) -> None:
    page = visit("/dashboard/patterns/")
    kept = page.evaluate(f"""async () => {{{TABLE}
      const {{RowSparks}} = await import('/static/dashboard/row_spark.js');
      const table = new KeyedTable(body);
      const sparks = new RowSparks(table, 'events');
      for (let n = 0; n < 200; n++) {{
        table.put({{id: 'stays', events: n * 3}});
        table.put({{id: 'goes', events: n}});
        sparks.tick();
      }}
      const values = sparks.histories.get('stays').values;
      const path = body.rows[0].querySelector('path').getAttribute('d');
      table.remove('goes');
      sparks.tick();
      const bars = (path.match(/V/g) ?? []).length;
      return [values.length, values[0], bars, [...sparks.histories.keys()]];
    }}""")

    assert kept == [30, 3, 30, ["stays"]]


def test_no_module_makes_a_number_of_a_revision() -> None:
    for script in SCRIPTS.glob("*.js"):
        text = script.read_text()

        assert "parseInt" not in text, script
        assert "parseFloat" not in text, script
        for called in re.findall(r"Number\(([^)]*)\)", text):
            assert not re.search(r"revision|applied|head|delivered", called), (script, called)
