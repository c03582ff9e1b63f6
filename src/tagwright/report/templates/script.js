"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.querySelectorAll("thead th")];
  const key = (row, i) => row.children[i].dataset.value ?? row.children[i].textContent;
  heads.forEach((head, i) => head.firstElementChild.addEventListener("click", () => {
    const body = table.tBodies[0], rows = [...body.rows];
    const numeric = rows.every((row) => row.children[i].dataset.value !== undefined);
    const was = head.getAttribute("aria-sort");
    const down = was ? was === "ascending" : numeric;
    const order = (a, b) => numeric ? key(a, i) - key(b, i) : key(a, i).localeCompare(key(b, i), undefined, {numeric: true});
    rows.sort((a, b) => down ? order(b, a) : order(a, b));
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  }));
}
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    getSelection().selectAllChildren(source);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected: press Ctrl+C";
    }
  });
}
