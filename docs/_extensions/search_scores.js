// What a word found in a result is worth: the values of Sphinx, except that exact words of search_words.py come first,
// a page with the words in a heading before a function or a glossary entry of that name, a heading of several words
// that reads like the query before others, and a guide before the other pages.
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) =>
    kind === SearchResultKind.index
      ? score === 100 && docname !== "reference/glossary" ? 200 : Math.min(score, 12)
      : (kind === SearchResultKind.title && title.split(" > ").pop().split(" ").length > 2 ? 6 : 1) * score +
        (docname.startsWith("guides/") ? 1 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
