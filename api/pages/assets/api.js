// Asks the address of MCP for its tools.
for (const button of document.querySelectorAll("[data-check]")) {
  const status = document.getElementById("checked");
  button.addEventListener("click", async () => {
    status.textContent = "Asking…";
    try {
      const answer = await fetch(button.dataset.check, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      });
      const { result } = await answer.json();
      status.textContent = answer.ok && result ? `It works: ${result.tools.length} tools.` : `It answers with ${answer.status}.`;
    } catch {
      status.textContent = "It cannot be reached from this browser.";
    }
  });
}

// Calls an operation with the fields of its form and shows the answer below it. Without this script the form itself is sent, with the fields
// of the example.
function tryIt(form) {
  form.querySelector("[data-more]").disabled = false;
  const [status, block] = [form.parentElement.querySelector(".status"), form.parentElement.querySelector("pre")];
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let path = form.dataset.try;
    const query = new URLSearchParams();
    const headers = {};
    for (const [name, value] of new FormData(form)) {
      if (form.elements[name].dataset.key !== undefined) headers.Authorization = `Bearer ${value}`;
      else if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(value));
      else if (value.trim()) query.append(name, value);
    }
    status.textContent = "Sent…";
    block.hidden = true;
    try {
      const began = performance.now();
      const answer = await fetch(query.size ? `${path}?${query}` : path, { headers });
      const kind = answer.headers.get("Content-Type") ?? "";
      const text = kind.startsWith("image/") ? `${(await answer.blob()).size} bytes of ${kind}` : await answer.text();
      const left = answer.headers.get("X-RateLimit-Remaining");
      const took = Math.round(performance.now() - began);
      const counts = left !== null && (answer.ok || answer.status === 429);
      status.textContent = `${answer.status}, ${took} ms${counts ? `, ${left} calls left this month` : ""}`;
      block.firstElementChild.textContent = kind.includes("json") ? JSON.stringify(JSON.parse(text), null, 2) : text;
      block.hidden = false;
    } catch {
      status.textContent = "This site cannot be reached at present.";
    }
  });
}
const tried = document.querySelectorAll("[data-try]");
tried.forEach(tryIt);
// A key that is entered once is meant for every form of the page; it is kept nowhere.
const keys = document.querySelectorAll("[data-try] [data-key]");
for (const key of keys) key.addEventListener("change", () => keys.forEach((other) => { other.value = key.value; }));
