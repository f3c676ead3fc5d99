// The filter of a table: words, each of which must stand in the row; `type:` and `ns:` look at one
// column only, and `not:` leaves out the rows that have the word. Its text lives in the address, so that a link carries it.

function test(row, word) {
  if (word.startsWith("not:")) return !test(row, word.slice(4));
  const [name, rest] = word.split(/:(.*)/s);
  if (rest !== undefined && name === "type") {
    const type = row.querySelector(".type")?.dataset.is ?? "";
    return type.toLowerCase().startsWith(rest);
  }
  if (rest !== undefined && name === "ns") {
    const key = row.querySelector("[data-text=key]")?.textContent.toLowerCase();
    if (key !== undefined) return key.startsWith(`${rest}/`);
    return row.querySelector("[data-text=selector]")?.textContent.includes(`-n ${rest}`) ?? false;
  }
  return row.textContent.toLowerCase().includes(word);
}

export function matcher(text) {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  return words.length ? (row) => words.every((word) => test(row, word)) : null;
}

// Wires the page's filter field to its tables; returns what filters them anew.
export function wireFilter(tables) {
  const form = document.getElementById("filter");
  if (!form) return;
  const input = form.elements.q;
  const apply = () => {
    const matches = matcher(input.value);
    for (const table of tables) {
      const shown = table.show(matches);
      const empty = document.querySelector(`[data-empty="filter"]`);
      if (empty && table === tables[0]) empty.hidden = !(matches && table.size && !shown);
    }
    const address = new URL(location.href);
    if (input.value) address.searchParams.set("q", input.value);
    else address.searchParams.delete("q");
    history.replaceState(null, "", address);
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", apply);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      apply();
      input.blur();
    }
  });
  if (input.value) apply();
  return apply;
}
