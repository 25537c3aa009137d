// Formats works with citeproc-js. Input, as JSON on standard input: {"style": XML, "locales": {name: XML},
// "locale": name, "items": [CSL-JSON]}. Output: the entries in HTML, by the ids of the items.
const CSL = require("citeproc");
const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
const items = Object.fromEntries(input.items.map((item) => [item.id, item]));
const system = {
  retrieveLocale: (name) => input.locales[name] || input.locales["en-US"],
  retrieveItem: (id) => items[id],
};
const engine = new CSL.Engine(system, input.style, input.locale, true);
engine.updateItems(Object.keys(items));
const [about, entries] = engine.makeBibliography();
process.stdout.write(JSON.stringify(Object.fromEntries(about.entry_ids.map((ids, n) => [ids[0], entries[n]]))));
