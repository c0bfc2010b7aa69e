// Order of the results of the search: pages that say how to do something come before names of the API and files, and
// before them those that have words of the query among their phrases in docs/site/keywords.toml.
var Scorer = {
  score: ([docname, , , , score]) => {
    const folders = { tutorials: 8, "how-to": 8, api: -8, files: -10 };
    const query = new URLSearchParams(window.location.search).get("q") ?? "";
    const words = query.toLowerCase().split(/\W+/).filter(each => each.length > 2);
    const phrases = Scorer.phrases()[docname] ?? "";
    const known = words.filter(each => phrases.includes(` ${each.replace(/(e|s|ed|ing)$/, "")}`)).length;
    return score + (folders[docname.split("/")[0]] ?? 0) + (words.length ? 8 * known / words.length : 0);
  },
  // Phrases of each page, from the index; keys of configurations are entries of it, too, and are no phrases.
  phrases: () => {
    if (Scorer.found === undefined) {
      Scorer.found = {};
      for (const [entry, places] of Object.entries(Search._index.indexentries)) {
        for (const [file, , isMain] of places) {
          const name = Search._index.docnames[file];
          if (isMain && name !== "reference/configuration") Scorer.found[name] = `${Scorer.found[name] ?? ""} ${entry}`;
        }
      }
    }
    return Scorer.found;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
