// Drafts: what was sent from a form, or left, when the session had ended. It stays in this tab; after a
// sign-in, or a page that says what went wrong, the form offers it again. Nothing is put back unasked.

const PREFIX = "listwatch-draft:";
const KEPT = ["document", "revision", "uid", "base", "namespace"];

const keyOf = ({ pathname, search }) => PREFIX + pathname + search;

function write(key, draft) {
  try {
    sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // No room, or no storage: then the question before leaving is all there is.
  }
}

function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null;
  }
}

function keys() {
  try {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
  } catch {
    return [];
  }
}

// Called by pages that one comes to instead of the answer: what was sent has not arrived.
export function markLost() {
  for (const key of keys()) write(key, { ...read(key), lost: true });
}

// Called by every other page: what was answered is forgotten, and all of it when one signs out.
export function settle() {
  for (const key of keys()) if (!read(key)?.lost) sessionStorage.removeItem(key);
  document.querySelector("form[action$='/logout/']")?.addEventListener("submit", () => {
    for (const key of keys()) sessionStorage.removeItem(key);
  });
}

export function wireDrafts(field) {
  const key = keyOf(location);
  const { form } = field;
  const draft = read(key);
  if (draft?.lost && draft.document !== field.value) offer(field, key, draft);
  else sessionStorage.removeItem(key);
  settle();

  const keep = () => {
    const values = KEPT.map((name) => [name, form.elements[name]?.value]);
    write(key, Object.fromEntries(values.filter(([, value]) => value !== undefined)));
  };
  form.addEventListener("submit", keep);
  window.addEventListener("pagehide", () => {
    if (field.value !== field.defaultValue) keep();
  });
}

function offer(field, key, draft) {
  const notice = document.createElement("div");
  notice.className = "draft notice";
  notice.setAttribute("role", "status");
  const words = document.createElement("span");
  words.textContent = "What you had typed did not arrive, and is kept here.";
  const [back, drop] = ["Put it back", "Drop it"].map((title) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button";
    button.textContent = title;
    button.addEventListener("click", () => {
      sessionStorage.removeItem(key);
      notice.remove();
      field.focus();
    });
    return button;
  });
  back.addEventListener("click", () => {
    // With the state that it was made from: what others changed meanwhile is found when it is sent.
    for (const name of KEPT) {
      if (draft[name] !== undefined && field.form.elements[name]) field.form.elements[name].value = draft[name];
    }
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  notice.append(words, back, drop);
  field.form.prepend(notice);
}
