"""SOUL.md: what it holds (`document`), how it reads (`render`), how it changes (`edit`), and its file (`file`)."""

from insula.night.soul.document import MOST_CHARS, SECTIONS, TEMPLATE, Document, Line, Section, digest, parse
from insula.night.soul.edit import Change, diff, revise, taken_out
from insula.night.soul.render import WORDS, prompt_text, render, told

__all__ = [
    "MOST_CHARS",
    "SECTIONS",
    "TEMPLATE",
    "WORDS",
    "Change",
    "Document",
    "Line",
    "Section",
    "diff",
    "digest",
    "parse",
    "prompt_text",
    "render",
    "revise",
    "taken_out",
    "told",
]
