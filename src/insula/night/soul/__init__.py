"""SOUL.md: what it holds and how it changes (`document`), how the agent is told of it (`render`), and its `file`."""

from insula.night.soul.document import (
    MOST_CHARS,
    SECTIONS,
    TEMPLATE,
    Document,
    Section,
    SoulChange,
    SoulLine,
    diff_documents,
    file_digest,
    is_preference,
    parse_document,
    render_document,
    revise_document,
    taken_out,
)
from insula.night.soul.render import WORDS, prompt_text

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
    "is_preference",
    "parse_document",
    "prompt_text",
    "render_document",
    "revise_document",
    "taken_out",
]
