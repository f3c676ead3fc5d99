// The switch of colours: as the system, light, dark. The choice is a cookie, so that the server
// writes the next page in it; without this module the switch is a plain form.

const ORDER = ["", "light", "dark"];
const WORDS = { "": "as the system", light: "light", dark: "dark" };

export function wireTheme() {
  const form = document.getElementById("theme-switch");
  if (!form) return;
  const button = form.querySelector("button");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const root = document.documentElement;
    const theme = ORDER[(ORDER.indexOf(root.dataset.theme ?? "") + 1) % ORDER.length];
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    document.cookie = `listwatch_theme=${theme}; path=/; max-age=31536000; samesite=lax`;
    button.title = `Colours: ${WORDS[theme]}`;
    button.setAttribute("aria-label", `Colours: ${WORDS[theme]}. Change`);
    button.querySelector("use").setAttribute("href", `${document.body.dataset.icons}#${theme || "auto"}`);
  });
}
