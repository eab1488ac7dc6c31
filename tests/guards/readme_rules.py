"""Reading README.md: its Python snippets with the output that they promise, its commands and its links."""

import re
from dataclasses import dataclass

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Snippet:
    """A Python block, and the text block right below it, if there is one."""

    source: str
    promised: str | None


def snippets(text: str) -> list[Snippet]:
    blocks = list(BLOCK.finditer(text))
    examples = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] == "python":
            near = (
                following is not None and following[1] == "text" and not text[block.end() : following.start()].strip()
            )
            examples.append(Snippet(block[2], following[2] if near and following else None))
    return examples


def make_targets(text: str) -> set[str]:
    """The make commands that a Markdown text names, in blocks and in running text."""
    return set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.M))


def links(text: str) -> set[str]:
    named = re.findall(r"\]\(([^)\s]+)\)", text)
    return {link.split("#")[0] for link in named if "://" not in link and not link.startswith("#")}


def sections(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.M)
