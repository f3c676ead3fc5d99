// Applies what changed in a table: {rows, gone, order}, or all of it. Shared by pages with statistics.

export function mergeTable(table, changes) {
  if (!changes) return;
  if (changes.all) {
    const stay = new Set(changes.order ?? []);
    for (const id of [...table.rows.keys()]) if (!stay.has(id)) table.remove(id);
  }
  for (const id of changes.gone ?? []) table.remove(id);
  for (const record of changes.rows ?? []) table.put(record);
  if (changes.order) table.order(changes.order);
}

// Shows the empty state of a table, and hides the table, when it has no rows.
export function showEmpty(name, table) {
  const empty = document.querySelector(`[data-empty="${name}"]`);
  const full = document.querySelector(`[data-full="${name}"]`);
  if (empty) empty.hidden = table.size > 0;
  if (full) full.hidden = table.size === 0;
}
