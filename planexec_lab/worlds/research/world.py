"""The world of the report: a library, a summarizer, and a folder for reports."""

from importlib.resources import files
from typing import Any, ClassVar

from planexec_lab.worlds.folder import FolderWorld, Tools
from planexec_lab.worlds.research.library import Library
from planexec_lab.worlds.research.words import CITATION, by_source, length, summary

_FOUND = 3  # documents by a search
_SENTENCES = 2  # of a summary, from each document


class World(FolderWorld):
    """A library on renewable energy and a desk to write at, in a temporary folder that goes away with the object.

    Args:
        corpus: other documents, in the form of `corpus.md`.
    """

    TOOLS: ClassVar[Tools] = {
        "web_search": (1.5, "none"),
        "read_document": (0.5, "none"),
        "summarize_text": (2.0, "none"),
        "write_report": (3.0, "idempotent"),
        "remove_report": (0.5, "idempotent"),
    }
    DESTRUCTIVE = ("remove_report",)

    def __init__(self, corpus: str | None = None) -> None:
        super().__init__()
        text = (files(__package__) / "corpus.md").read_text(encoding="utf-8") if corpus is None else corpus
        self.library.create(text)

    @property
    def library(self) -> Library:
        """The documents."""
        return Library(self.folder / "library.sqlite")

    @property
    def report(self) -> str:
        """The latest report; empty before the first."""
        written = self._files.named("report")
        return (self.folder / written[-1]).read_text(encoding="utf-8") if written else ""

    def web_search(self, query: str) -> list[dict[str, Any]]:
        """Search the library; returns id, title and snippet of the documents that fit best, the best one first.

        Args:
            query: the words to look for
        """
        return self.library.search(query, _FOUND)

    def read_document(self, id: str) -> dict[str, Any]:
        """Read a document of the library; its text begins with its id in brackets, to be cited.

        Args:
            id: as web_search returns it, such as doc-7
        """
        document = self.library.get(id)
        if document is None:
            raise ValueError(f"there is no document {id!r}; take an id that web_search returns, such as doc-7")
        return {**document._asdict(), "text": f"[{document.id}] {document.text}"}

    def summarize_text(self, text: str) -> str:
        """Pick the sentences that say most, and cite the document that they come from.

        Args:
            text: one document's text, or several
        """
        parts = [(source, summary(part, _SENTENCES)) for source, part in by_source(text)]
        if not parts:
            raise ValueError("there is no text to summarize; give the text of a document")
        return "\n\n".join(f"{summarized} [{source}]" if source else summarized for source, summarized in parts)

    def write_report(self, sections: list[str]) -> dict[str, Any]:
        """Write a report, with a list of the documents that its sections cite as [doc-7].

        Args:
            sections: the text of each section
        """
        if not sections or not all(section.strip() for section in sections):
            raise ValueError("a report needs at least one section, and a text in each")
        cited = dict.fromkeys(id for section in sections for id in CITATION.findall(section))
        documents = {id: document for id in cited if (document := self.library.get(id))}
        sources = [f"- [{id}] {document.title} ({document.year})" for id, document in documents.items()]
        name = self._files.next("report", ".md")
        text = "\n\n".join(["# Trends in renewable energy", *sections, "## Sources", "\n".join(sources) or "None."])
        (self.folder / name).write_bytes((text + "\n").encode())
        return {
            "file": name,
            "sections": len(sections),
            "words": sum(map(length, sections)),
            "cites": list(documents),
            "unknown": [id for id in cited if id not in documents],
            "uncited": [n for n, section in enumerate(sections, 1) if not CITATION.search(section)],
        }

    def remove_report(self, file: str) -> dict[str, Any]:
        """Remove a report.

        Args:
            file: the name that write_report returned
        """
        self._files.known(file, "report", "write_report").unlink()
        return {"removed": file}
