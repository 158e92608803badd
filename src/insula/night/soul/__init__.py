"""SOUL.md: what it holds (`document`), how it reads (`render`), how it changes (`edit`), and its file (`file`)."""

from insula.night.soul.document import (
    MOST_CHARS,
    SECTIONS,
    TEMPLATE,
    Document,
    Section,
    SoulLine,
    file_digest,
    parse_document,
)
from insula.night.soul.edit import SoulChange, diff_documents, revise_document, taken_out
from insula.night.soul.render import WORDS, prompt_text, render_document, render_told

__all__ = [
    "MOST_CHARS",
    "SECTIONS",
    "TEMPLATE",
    "WORDS",
    "Document",
    "Section",
    "SoulChange",
    "SoulLine",
    "diff_documents",
    "file_digest",
    "parse_document",
    "prompt_text",
    "render_document",
    "render_told",
    "revise_document",
    "taken_out",
]
