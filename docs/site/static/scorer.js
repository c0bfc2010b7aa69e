// Order of the results of the search: pages that say how to do something come before names of the API and files.
var Scorer = {
  score: ([docname, , , , score]) => {
    const folders = { tutorials: 8, "how-to": 8, api: -8, files: -10 };
    return score + (folders[docname.split("/")[0]] ?? 0);
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
