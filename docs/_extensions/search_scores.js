// The scores of Sphinx, but that a heading that reads like the whole query outweighs its words in other pages.
var Scorer = {
  score: ([docname, title, anchor, description, score, filename, kind]) => (kind === "title" ? 6 * score : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
