// Copies what a button names, and completes the search box. Without this script everything else works, and nothing is copied by a click.
// What a click did, for screen readers.
const told = document.createElement("p");
told.className = "visually-hidden";
told.setAttribute("role", "status");
document.body.append(told);
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).textContent;
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy it";
    }
    told.textContent = button.textContent;
    setTimeout(() => { button.textContent = before; told.textContent = ""; }, 2000);
  });
}

// The board that this browser is collecting: the slugs of projects, kept in the browser alone. The server has none of it, and without
// storage each board begins anew.
const STORED = "board";
function collected() {
  try {
    return JSON.parse(localStorage.getItem(STORED)) ?? [];
  } catch {
    return [];
  }
}
const shown = document.querySelector("[data-board]");
// A board that somebody else sent does not replace one's own.
if (document.querySelector("#add") && document.referrer.startsWith(`${location.origin}/`)) {
  try {
    localStorage.setItem(STORED, JSON.stringify(shown ? shown.dataset.board.split(",") : []));
  } catch { /* The board is in the address all the same. */ }
}
const board = collected();
for (const link of document.querySelectorAll("[data-add]")) {
  const { add } = link.dataset;
  link.search = `?slugs=${[...board.filter((slug) => slug !== add), add].join(",")}`;
  if (board.includes(add)) link.textContent = "On the board";
}
for (const link of document.querySelectorAll("[data-board-link]")) {
  link.hidden = board.length === 0;
  link.search = `?slugs=${board.join(",")}`;
  link.textContent = `Board (${board.length})`;
}

// A combobox with a listbox (ARIA 1.2): the focus stays in the field, aria-activedescendant names the option. Home, End and the arrows to
// the sides move in the text.
function complete(input) {
  const DELAY = 120;
  const list = document.createElement("ul");
  list.id = `${input.id}-suggestions`;
  list.className = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  input.after(list);
  const attributes = { role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  let [timer, request, active] = [0, null, -1];

  const cancel = () => {
    clearTimeout(timer);
    request?.abort();
    request = null;
  };
  const activate = (at) => {
    active = at;
    [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
    const option = list.children[at];
    if (option) {
      input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  };
  const show = (suggestions) => {
    list.replaceChildren(...suggestions.map(({ text, kind, href }, index) => {
      const [option, name, about] = ["li", "span", "span"].map((element) => document.createElement(element));
      option.id = `${list.id}-${index}`;
      option.setAttribute("role", "option");
      option.dataset.href = href;
      name.textContent = text;
      about.textContent = kind;
      about.className = "soft";
      option.append(name, " ", about);
      return option;
    }));
    list.hidden = suggestions.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    activate(-1);
  };
  const close = () => {
    cancel();
    show([]);
  };
  const look = async () => {
    const text = input.value.trim();
    if (!text) return;
    const own = new AbortController();
    request = own;
    try {
      const answer = await fetch(`${input.dataset.suggest}?${new URLSearchParams({ q: text })}`, { signal: own.signal });
      const { suggestions } = answer.ok ? await answer.json() : { suggestions: [] };
      if (request === own) show(suggestions);
    } catch {
      // Aborted, or without a connection: the form still searches.
      if (request === own) show([]);
    }
  };
  const go = (option) => {
    const { href } = option.dataset;
    close();
    location.assign(href);
  };

  input.addEventListener("input", (event) => {
    cancel();
    if (event.isComposing) return;
    if (input.value.trim()) timer = setTimeout(look, DELAY);
    else show([]);
  });
  input.addEventListener("compositionend", () => {
    cancel();
    timer = setTimeout(look, DELAY);
  });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const count = list.children.length;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      // The field itself comes between the last option and the first.
      if (count) activate((active + 1 + step + count + 1) % (count + 1) - 1);
      else look();
    } else if (event.key === "Enter" && active >= 0) {
      event.preventDefault();
      go(list.children[active]);
    } else if (event.key === "Escape" && count) {
      event.preventDefault();
      close();
    } else if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) {
      activate(-1);
    }
  });
  input.addEventListener("blur", close);
  input.form?.addEventListener("submit", close);
  // A press on an option leaves the focus in the field.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) go(option);
  });
}
document.querySelectorAll("input[data-suggest]").forEach(complete);
