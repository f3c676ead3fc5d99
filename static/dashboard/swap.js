// Takes parts of a page, as the server writes it now, in place of those that are shown.

let newest = 0;

export async function swap(address, ids) {
  newest += 1;
  const mine = newest;
  const answer = await fetch(address, { credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok || mine !== newest) return false; // a later one is on its way
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine !== newest) return false;
  for (const id of ids) {
    const fresh = page.getElementById(id);
    if (fresh) document.getElementById(id).replaceChildren(...fresh.childNodes);
  }
  return true;
}
