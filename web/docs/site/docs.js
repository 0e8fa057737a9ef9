// The search of the documentation. Without this script, and where its data cannot be read, the list of pages stays as it is.
const up = document.body.dataset.up ?? "";
const form = document.querySelector("nav form");
const input = form.querySelector("input");
const found = document.getElementById("found");
const contents = document.getElementById("contents");
let pages;

form.hidden = location.protocol === "file:"; // a browser reads no data from there
form.addEventListener("submit", (e) => {
  e.preventDefault();
  found.querySelector("a")?.click();
});
input.addEventListener("input", async () => {
  pages ??= await fetch(up + "search.json").then((r) => r.json());
  show(input.value.toLowerCase().split(/\s+/).filter(Boolean));
});
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && document.activeElement !== input && !form.hidden) {
    e.preventDefault();
    input.focus();
  }
});

function show(words) {
  contents.hidden = words.length > 0;
  found.replaceChildren();
  if (words.length === 0) return;
  const hits = pages
    .map((p) => ({ p, rank: rank(p, words) }))
    .filter((h) => h.rank > 0)
    .sort((a, b) => b.rank - a.rank);
  const list = document.createElement("ul");
  for (const { p } of hits) {
    const a = document.createElement("a");
    a.href = up + p.page;
    a.textContent = p.title;
    const item = document.createElement("li");
    item.append(a);
    list.append(item);
  }
  found.append(hits.length ? list : "Nothing is found.");
}

/** 0 for a page that lacks a word; more for words in its title than in its text. */
function rank(p, words) {
  const title = `${p.title} ${p.summary} ${p.page}`.toLowerCase();
  const text = p.text.toLowerCase();
  let sum = p.page.startsWith("reference/") ? 1 : 2;
  for (const w of words) {
    if (title.includes(w)) sum += 10;
    else if (!text.includes(w)) return 0;
  }
  return sum;
}
