"use strict";
// Puts a field above each table that can be searched; a page without it is complete.
for (const region of document.querySelectorAll("[data-search]")) {
  const entries = [...region.querySelectorAll("tbody tr")];
  const texts = entries.map((row) => row.textContent.toLowerCase());
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Show only lines with these words";
  field.setAttribute("aria-label", "Search: " + region.dataset.search);
  const found = document.createElement("output");
  const search = document.createElement("p");
  search.className = "search";
  search.append(field, found);
  region.before(search);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    entries.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    found.textContent = words.length ? shown + " of " + entries.length : "";
  });
}
