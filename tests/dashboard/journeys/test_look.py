from __future__ import annotations

import pytest
from playwright.sync_api import expect

from dashboard import formats
from dashboard.keys import KEYS
from dashboard.navigation import ENTRIES, always
from tests.dashboard.accessibility import contrast
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import change, create, fresh
from tests.dashboard.paths import PAGES
from tests.servers import Server


@pytest.mark.parametrize("path", PAGES)
def test_every_page_stands_without_a_script(visit: Visit, path: str) -> None:
    page = visit(path, java_script_enabled=False)

    expect(page.locator("h1").first).to_be_visible()
    expect(page.locator("#chip")).to_have_text("still page")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_button_that_cannot_be_pressed_is_read_under_the_pointer(
    visit: Visit, theme: str
) -> None:
    page = visit("/dashboard/learn/compare/", theme=theme, java_script_enabled=False)
    button = page.locator("#begin")
    assert button.is_disabled()
    button.hover(force=True)
    ink, ground = button.evaluate(
        "each => [getComputedStyle(each).color, getComputedStyle(each).backgroundColor]"
    )

    assert contrast(ink, ground) >= 4.5


def test_colours_follow_the_system_until_they_are_chosen(live: Visit) -> None:
    page = live("/dashboard/", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    seen = [page.evaluate(ground)]
    for _ in range(3):
        page.locator("#theme-switch button").click()
        seen.append(page.evaluate(ground))
    dark, light = "rgb(15, 16, 18)", "rgb(247, 247, 245)"

    assert seen == [dark, light, dark, dark]

    page.locator("#theme-switch button").click()
    page.reload()

    assert page.evaluate(ground) == light


@pytest.mark.parametrize("width", [1280, 1920])
def test_the_attach_form_has_what_is_watched_above_how_it_is(visit: Visit, width: int) -> None:
    page = visit("/dashboard/attach/", width=width)
    names = ("resource", "namespace", "labels", "fields", "from", "as")
    tops = [page.locator(f"[name={name}]").bounding_box() for name in names]
    lines = [box["y"] for box in tops if box is not None]

    assert lines[:4] == [lines[0]] * 4
    assert lines[4:] == [lines[4]] * 2
    assert lines[4] > lines[0]
    labels = page.locator("[name=labels]").bounding_box()
    assert labels is not None
    assert labels["width"] > 300


@pytest.mark.parametrize("width", [390, 1280])
def test_a_table_shades_the_side_on_which_it_goes_on(visit: Visit, width: int) -> None:
    page = visit("/dashboard/objects/namespaces/", width=width)
    box = page.locator(".table-box").first
    attached = box.evaluate("box => getComputedStyle(box).backgroundAttachment")

    # The covers move with the table, the shades stay: at an end a cover lies on the shade.
    assert attached == "local, local, scroll, scroll, scroll"


def test_the_slash_filters_and_the_address_carries_the_filter(live: Visit) -> None:
    page = live("/dashboard/")
    page.keyboard.press("/")
    page.keyboard.type("apps deploy")

    expect(page.locator("#resources tr:visible")).to_have_count(1)
    assert page.url.endswith("?q=apps+deploy")

    page.reload()
    expect(page.locator("#resources tr:visible")).to_have_count(1)
    page.locator("#filter-text").fill("nothing at all")
    expect(page.get_by_text("No resource matches the filter")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#resources tr:visible").nth(2)).to_be_visible()


def test_kinds_without_objects_are_folded_away_until_they_are_looked_for(live: Visit) -> None:
    page = live("/dashboard/")
    row = page.locator('#resources tr[data-row="podtemplates"]')

    expect(row).to_be_hidden()
    expect(page.locator('#resources tr[data-row="namespaces"]')).to_be_visible()
    page.get_by_label("Also kinds without objects and events").check()
    expect(row).to_be_visible()
    page.get_by_label("Also kinds without objects and events").uncheck()
    page.locator("#filter-text").fill("podtempl")
    expect(row).to_be_visible()


def test_a_filter_knows_types_and_namespaces(live: Visit, server: Server) -> None:
    name = fresh()
    create(server, name)
    change(server, name, colour="blue")
    page = live("/dashboard/resources/configmaps/")
    page.locator("#filter-text").fill(f"type:modified ns:default {name}")

    expect(page.locator("#slots tr:visible")).to_have_count(1)
    expect(page.locator("#slots tr:visible .type")).to_have_text("MODIFIED")

    page.locator("#filter-text").fill(f"ns:shop {name}")

    expect(page.locator("#slots tr:visible")).to_have_count(0)


def test_keys_do_what_the_help_says(live: Visit) -> None:
    page = live("/dashboard/")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    sometimes = {f"go:{entry.name}" for entry in ENTRIES if entry.shown is not always}
    for key in KEYS:
        if key.does not in sometimes:
            expect(page.locator("#help").get_by_text(key.says, exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).not_to_be_visible()
    for letter, path in (("f", "flow/"), ("w", "watchers/"), ("a", "attach/"), ("h", "")):
        page.keyboard.press("g")
        page.keyboard.press(letter)
        page.wait_for_url(f"**/dashboard/{path}")
        page.wait_for_selector("#chip[data-is=live]")


def test_keys_are_letters_while_one_types(live: Visit) -> None:
    page = live("/dashboard/attach/")
    page.locator("[name=labels]").click()
    page.keyboard.type("g w ? /")

    expect(page.locator("[name=labels]")).to_have_value("g w ? /")
    expect(page.locator("#help")).not_to_be_visible()
    assert "/attach/" in page.url


VALUES: dict[str, list[float]] = {
    "count": [0, 7, 999, 1000, 1234567],
    "rate": [0, 0.04, 0.25, 1, 9.94, 9.96, 41.4, 1234.5],
    "ms": [0, 0.0001, 0.41, 0.994, 0.996, 1.25, 9.94, 9.96, 41.5, 999.4, 999.6, 4210, 130000],
    "size": [0, 1023, 1024, 10188, 10189, 1048063, 1048576, 5_000_000_000, 2_000_000_000_000_000],
    "age": [-5, -1.5, -0.5, 0, 59.9, 119, 120, 125, 599, 600, 10799, 10800, 28799, 172799, 172800,
            691199, 691200, 63071999, 63072000, 252287999, 252288000],
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_the_browser_writes_numbers_as_the_server_does(visit: Visit, name: str) -> None:
    page = visit("/dashboard/patterns/")
    there = page.evaluate(
        """async ([name, values]) => {
          const module = await import('/static/dashboard/format.js');
          return values.map((value) => module[name](value));
        }""",
        [name, VALUES[name]],
    )

    assert there == [getattr(formats, name)(value) for value in VALUES[name]]


def test_revisions_beyond_what_a_number_holds_are_told_apart(visit: Visit) -> None:
    page = visit("/dashboard/patterns/")
    between = page.evaluate(
        """async () => (await import('/static/dashboard/format.js'))
          .revisionsBetween('18014398509481984', '18014398509481985')"""
    )

    assert between == "1"


def test_no_row_flashes_for_those_who_want_no_motion(live: Visit, server: Server) -> None:
    flashing = """() => new Promise((resolve) => {
      new MutationObserver(() => resolve(true)).observe(document.getElementById('journeys'),
        {subtree: true, attributes: true, attributeFilter: ['data-flash']});
      setTimeout(() => resolve(false), 1500);
    })"""
    for motion, expected in (("reduce", False), ("no-preference", True)):
        page = live("/dashboard/flow/", reduced_motion=motion)
        page.wait_for_timeout(500)
        page.evaluate(f"window.flashed = ({flashing})(); null")
        create(server, fresh())

        assert page.evaluate("window.flashed") is expected


def test_above_twenty_events_a_second_counters_take_over(visit: Visit) -> None:
    page = visit("/dashboard/patterns/")
    flashed = page.evaluate(
        """async () => {
          const {Flashes} = await import('/static/dashboard/flashes.js');
          await new Promise((done) => setTimeout(done, 1010 - (performance.now() % 1000)));
          const rows = Array.from({length: 60}, () => document.createElement('tr'));
          for (const row of rows) Flashes.on(row, 'ADDED');
          return rows.filter((row) => row.dataset.flash).length;
        }"""
    )

    assert flashed == 20
