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

// A query that holds every word of an entry of search_words.py, in any order and form, is answered first by the page of
// the longest such entry; an entry of one word answers only what nothing else does.
const ordinary = Search._performSearch;
Search._performSearch = (query, terms, ...others) => {
  const results = ordinary(query, terms, ...others);
  const { indexentries, docnames, titles, filenames } = Search._index;
  const stemmer = new Stemmer();
  const held = Object.entries(indexentries)
    .map(([entry, places]) => [
      splitQuery(entry).filter((word) => !stopwords.has(word)).map((word) => stemmer.stemWord(word)),
      places.find(([, anchor]) => !anchor), // other entries, of names and of the glossary, have anchors
    ])
    .filter(([words, place]) => place && words.length > (results.length ? 1 : 0) && words.every((word) => terms.has(word)))
    .sort(([one], [other]) => one.length - other.length);
  if (!held.length) return results;
  const page = held.pop()[1][0];
  return [
    ...results.filter(([name, , anchor]) => name !== docnames[page] || anchor),
    [docnames[page], titles[page], "", null, 200, filenames[page], SearchResultKind.index],
  ];
};
