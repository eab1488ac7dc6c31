"""Versions of prompts, numbered and never changed, and the labels that point to them."""

from dataclasses import dataclass

from planexec_lab.prompts.file import RegistryError, digest


@dataclass(frozen=True, slots=True)
class PromptVersion:
    """One text of a prompt.

    Args:
        name: of the prompt, such as "planner".
        number: of the version, from 1.
        text: the prompt, with its fields if it has any.
        note: why it was saved; "" for none.
        saved: when, as "2026-11-25T10:00:00+00:00".
    """

    name: str
    number: int
    text: str
    note: str = ""
    saved: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


@dataclass(frozen=True, slots=True)
class Release:
    """A label was moved to a version: which, whereto, why and when."""

    name: str
    label: str
    number: int
    note: str = ""
    at: str = ""


COLUMNS = "prompt, number, text, note, at, digest"


def read_version(row: tuple[str, int, str, str, str, str]) -> PromptVersion:
    """Return the version of a row. Raises `RegistryError` if its text was changed."""
    name, number, text, note, at, written = row
    if digest(text) != written:
        raise RegistryError(
            f"the text of {name!r}, version {number}, was changed in the file; nothing else may write there"
        )
    return PromptVersion(name, number, text, note, at)
