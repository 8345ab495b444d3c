// Light and dark: as the system has it, until somebody presses the button. Colours are the page's CSS variables.

const NAMES = { "#1b2733": "--ink", "#5a6672": "--muted", "#dfe4e9": "--grid", "#fffffe": "--ground" };

export function color(name) {
  const variable = name.startsWith("--") ? name : (NAMES[name] ?? `--c-${name.slice(1)}`);
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim() || name;
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// Calls `redraw` whenever the colours are others.
export function watchTheme(redraw) {
  const button = document.getElementById("theme");
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Show the page ${isDark() ? "light" : "dark"}`);
  };
  button.hidden = false;
  label();
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    label();
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    label();
    redraw();
  });
}
