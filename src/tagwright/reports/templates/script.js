"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, i) => head.firstElementChild.addEventListener("click", () => {
    const body = table.tBodies[0], rows = [...body.rows];
    const value = (row) => row.children[i].dataset.value;
    const numeric = rows.every((row) => value(row) !== undefined);
    const was = head.getAttribute("aria-sort");
    const down = was ? was === "ascending" : numeric;
    const text = (row) => value(row) ?? row.children[i].textContent;
    const order = numeric ? (a, b) => value(a) - value(b) : (a, b) => text(a).localeCompare(text(b), undefined, {numeric: true});
    const known = rows.filter((row) => value(row) !== ""), unknown = rows.filter((row) => value(row) === "");
    known.sort((a, b) => down ? order(b, a) : order(a, b));
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...known, ...unknown);
  }));
}
function copies(button, source, text) {
  const title = button.textContent;
  button.addEventListener("click", async () => {
    getSelection().selectAllChildren(source);
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = title; }, 3000);
  });
}
for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  copies(button, source, () => source.textContent);
}
for (const button of document.querySelectorAll("button.copy-table")) {
  const table = button.parentElement.previousElementSibling.querySelector("table");
  // the names of rows may be shortened: whole ones are in the title
  const shown = (cell) => (cell.tagName === "TH" && cell.title || cell.textContent).replace(/\s+/g, " ").trim();
  const numeral = (cell) => cell.dataset.value === undefined ? shown(cell) : shown(cell).replaceAll("\u2212", "-");
  copies(button, table, () => [...table.rows].map((row) => [...row.cells].map(numeral).join("\t")).join("\n"));
}
