// Completes the last term of a selector with what the cache knows: its labels, its fields.
//
// The vocabulary comes over the page's socket when a field is entered, and anew when the resource
// or the namespace has changed. A <datalist> shows it, so that every browser brings its own list.

const OPERATORS = /(==|!=|=)/;
const MOST = 60;

// What could stand where the last term of `text` begins; each suggestion is a whole selector.
export function suggestions(text, words) {
  const cut = text.lastIndexOf(",") + 1;
  const before = text.slice(0, cut);
  const term = text.slice(cut).trimStart();
  const [name, operator, value] = term.split(OPERATORS);
  const found = [];
  if (operator) {
    for (const each of words[name] ?? []) if (each.startsWith(value)) found.push(`${name}${operator}${each}`);
  } else {
    for (const each of Object.keys(words)) if (each.startsWith(name)) found.push(`${each}=`);
    if (words[name]) for (const each of words[name]) found.push(`${name}=${each}`);
  }
  return found.slice(0, MOST).map((each) => before + each);
}

export function wireCompleting(form, socket) {
  let asked = "";
  let words = { labels: {}, fields: {} };
  const inputs = ["labels", "fields"].map((name) => form.elements[name]).filter(Boolean);

  const show = (input) => {
    const list = document.getElementById(`${input.name}-known`);
    list.replaceChildren(...suggestions(input.value, words[input.name] ?? {}).map((text) => {
      const option = document.createElement("option");
      option.value = text;
      return option;
    }));
  };

  const ask = () => {
    const { resource, namespace } = form.elements;
    const wanted = `${resource.value} ${namespace.value}`;
    if (wanted === asked) return;
    asked = wanted;
    socket.send({ do: "complete", id: "completions", resource: resource.value, namespace: namespace.value });
  };

  socket.listen("completions", (data) => {
    if (data.status) {
      asked = "";
      return;
    }
    words = data;
    for (const input of inputs) show(input);
  });
  for (const input of inputs) {
    input.addEventListener("focus", ask);
    input.addEventListener("input", () => show(input));
  }
  return () => {
    asked = "";
  };
}
