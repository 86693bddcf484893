"use strict";
// Puts a field above each table that can be searched; a page without it is complete.
const spaced = (text) => text.toLowerCase().replace(/[<>]=?|=/g, " $& ").replace(/\s+/g, " ").trim();
// What is quoted, a rule such as age < 23, or a word.
const parts = /"([^"]+)"?|[^ "<>=]+(?: (?:[<>]=?|=) [^ "<>=]+)+|[^ "]+/g;
// A word has to begin a word of a line; a phrase has to end with one, too.
function pattern([part, quoted]) {
  const phrase = quoted || / [<>=]/.test(part);
  const word = part.replace(/^[{}(),]+|[{}(),]+$/g, "") || part;
  const text = phrase ? (quoted || part).trim() : word;
  const literal = text.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&");
  const end = phrase ? "(?![\\p{L}\\p{N}]|\\.\\p{N})" : "";
  return new RegExp("(?<![\\p{L}\\p{N}])" + literal + end, "u");
}
// Words of two elements are not one word. What is cut stands whole in a title.
function words(row) {
  const texts = [...row.querySelectorAll("[title]")].map((cut) => cut.title);
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode.data);
  return spaced(texts.join(" "));
}
for (const region of document.querySelectorAll("[data-search]")) {
  const entries = [...region.querySelectorAll("tbody tr")];
  const texts = entries.map(words);
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
    const asked = [...spaced(field.value).matchAll(parts)].map(pattern);
    let shown = 0;
    entries.forEach((row, index) => {
      row.hidden = !asked.every((one) => one.test(texts[index]));
      shown += row.hidden ? 0 : 1;
    });
    const listed = shown + " of " + entries.length.toLocaleString("en") + " listed";
    found.textContent = asked.length ? [listed, region.dataset.all].filter(Boolean).join("; ") : "";
  });
}
