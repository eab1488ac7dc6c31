// How the search ranks its results: as Sphinx does, and the glossary before other pages.
window.Scorer = {
  score: ([page, , , , score]) => (page === "GLOSSARY" ? score + 50 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
