// Rows by key: j and k move among the rows that are shown, Enter opens the one with the focus.

function rows() {
  return [...document.querySelectorAll("main .table tbody tr")].filter((row) => !row.hidden && row.offsetParent && target(row));
}

function target(row) {
  return row.querySelector("th a[href], th button, td a[href], td button, td input");
}

export function moveRow(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step));
  const element = target(all[next]);
  element.focus();
  element.scrollIntoView({ block: "nearest" });
}
