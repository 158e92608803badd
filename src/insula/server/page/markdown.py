"""The Markdown of a model's answer as HTML that is safe to show.

Markup in it is text. A picture is a link, so that nothing is fetched for somebody who only reads. A link leads to http,
https or mailto. What is long is cut, and says so; the button that copies an answer copies all of it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from insula.caches import clear_on_erasure
from insula.text.analysis import clean_text

LONGEST = 100_000
"""Characters that are laid out; what follows is shown as it is."""
NESTED = 20
"""Quotes and lists within each other; deeper ones are text."""
SCHEMES = frozenset({"http", "https", "mailto"})
_BLOCKS = frozenset({"paragraph_open", "heading_open", "list_item_open", "td_open", "th_open"})
_CODE = Markup(
    '<div class="code"><button type="button" class="copy">Copy</button><pre tabindex="0"><code>{}</code></pre></div>\n'
)
_LINK = Markup('<a href="{0}" title="{0}" rel="noopener noreferrer nofollow" target="_blank">')
_REST = Markup(
    '<details><summary>The rest, as plain text ({:,} characters)</summary><pre tabindex="0">{}</pre></details>'
)


@clear_on_erasure
@lru_cache(maxsize=64)
def as_html(text: str) -> Markup:
    """An answer as HTML."""
    text = clean_text(text)
    end = len(text) if len(text) <= LONGEST else text.rfind("\n", 0, LONGEST) + 1 or LONGEST
    tokens = _PARSER.parse(text[:end])
    _set_levels(tokens)
    for token in tokens:
        if token.type in _BLOCKS:
            token.attrs = {"dir": "auto"}  # a column's alignment is a style, which the page's policy forbids
    made = Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # noqa: S704 the parser escapes all text
    return made + _REST.format(len(text) - end, text[end:]) if end < len(text) else made


def _set_levels(tokens: Sequence[Token]) -> None:
    """Let headings begin below the page's own, and skip no level."""
    above: list[str] = []
    for token in tokens:
        if token.type == "heading_open":
            while above and above[-1] >= token.tag:
                above.pop()
            above.append(token.tag)
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, len(above) + 1)}"


def _is_safe(url: str) -> bool:
    try:
        return urlsplit(url).scheme.lower() in SCHEMES
    except ValueError:
        return False


def _render_code(_: RendererHTML, tokens: Sequence[Token], index: int, *__: Any) -> str:
    return _CODE.format(tokens[index].content)


def _render_link(_: RendererHTML, tokens: Sequence[Token], index: int, *__: Any) -> str:
    return _LINK.format(tokens[index].attrGet("href"))


def _render_picture(_: RendererHTML, tokens: Sequence[Token], index: int, *__: Any) -> str:
    source = tokens[index].attrGet("src")
    return f"{_LINK.format(source)}{escape(tokens[index].content.strip() or source)}</a>"


def _open_table(*_: Any) -> str:
    return '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'


def _close_table(*_: Any) -> str:
    return "</table></div>\n"


_RULES = {
    "fence": _render_code,
    "code_block": _render_code,
    "link_open": _render_link,
    "image": _render_picture,
    "table_open": _open_table,
    "table_close": _close_table,
}


def _make_parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": NESTED})
    for name, rule in _RULES.items():
        made.add_render_rule(name, rule)
    made.validateLink = _is_safe
    return made.enable(["table", "strikethrough"])


_PARSER = _make_parser()
