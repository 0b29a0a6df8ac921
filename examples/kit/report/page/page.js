"use strict";
(() => {
  const collator = new Intl.Collator("en", { numeric: true });
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Tables: a button in each head sorts by its column. Cells without a number go last.
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.classList.contains("number") ? parseFloat(cell.dataset.value) : cell.textContent.trim();
  };
  const compare = (a, b, sign) => {
    if (typeof a === "string" || typeof b === "string") return sign * collator.compare(a, b);
    if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b);
    return sign * (a - b);
  };
  for (const table of all("table")) {
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const body = table.tBodies[0];
        const rows = [...body.rows].filter(row => row.cells.length === heads.length);
        rows.sort((a, b) => compare(key(a, column), key(b, column), sign));
        body.append(...rows);
      });
    });
  }

  // The key: a button a policy hides and shows what is its own in the charts.
  for (const item of all(".key li")) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(...item.childNodes);
    item.append(button);
    button.addEventListener("click", () => {
      const show = button.getAttribute("aria-pressed") === "false";
      button.setAttribute("aria-pressed", String(show));
      for (const part of all(`figure [data-policy="${item.dataset.policy}"], .courses [data-policy="${item.dataset.policy}"]`))
        part.classList.toggle("hidden", !show);
    });
  }
})();
