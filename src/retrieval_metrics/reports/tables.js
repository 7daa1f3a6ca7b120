// Tables sort by their heads: a button in each, and aria-sort says by which.
"use strict";
(() => {
  const worth = (cell) => {
    const words = cell ? cell.textContent.trim() : "";
    const number = parseFloat((words.replace(/,/g, "").match(/[-+−]?\d+(\.\d+)?/) || [""])[0].replace("−", "-"));
    return /^[▲▼=?<\s]*[-+−]?\d[\d.,]*(\s*(\[|\/|%).*)?$/.test(words) ? number : words === "-" || !words ? null : words;
  };
  const compare = (one, other) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other));
  };
  for (const table of document.querySelectorAll(".wide > table")) {
    const body = table.tBodies[0];
    if (!table.tHead || !body || body.rows.length < 3) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      if (!head.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") === "descending" || head.getAttribute("aria-sort") === "none" ? 1 : -1;
        heads.forEach((other) => { if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", up > 0 ? "ascending" : "descending");
        const rows = [...body.rows].map((row) => [worth(row.cells[at]), row]);
        rows.sort(([one], [other]) => (one === null || other === null ? compare(one, other) : up * compare(one, other)));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }
})();
