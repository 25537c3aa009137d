// Formats works with citeproc-js. Input, as JSON on standard input: {"locales": {name: XML}, "items": [CSL-JSON],
// "jobs": [{"style": XML, "locale": name, "citations": [[cites]]}]}. Output, for each job: the ids of the items in
// the order of the list, their entries and the citations in HTML.
const CSL = require("citeproc");
const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
const items = Object.fromEntries(input.items.map((item) => [item.id, item]));
const system = { retrieveLocale: (name) => input.locales[name], retrieveItem: (id) => items[id] };
const formatted = input.jobs.map(({ style, locale, citations }) => {
  const engine = new CSL.Engine(system, style, locale, true);
  engine.updateItems(input.items.map((item) => item.id));
  const [about, entries] = engine.makeBibliography();
  const ids = about.entry_ids.map((ids) => ids[0]);
  return { ids, entries, citations: citations.map((cites) => engine.makeCitationCluster(cites)) };
});
process.stdout.write(JSON.stringify(formatted));
