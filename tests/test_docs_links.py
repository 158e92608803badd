"""A reader who follows a link of the docs arrives, and each page can be reached from the site's navigation."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import yaml

Nav = str | list["Nav"] | dict[str, "Nav"]

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
LINK = re.compile(r"""(?:\]\(|(?:src|href)=")(?!https?:|mailto:)([^)\s"#]*)(?:#([^)\s"]*))?(?:[)"])""")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)
NAMED = re.compile(r"docs/[\w./-]+\.md")


def list_anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site both make them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


def find_dead_links(page: Path) -> Iterator[str]:
    """What a page links to that is not there."""
    for path, anchor in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        target = Path(os.path.normpath(page.parent / path)) if path else page
        if not target.exists():
            yield f"{page.relative_to(ROOT)}: {path}"
        elif anchor and target.suffix == ".md" and anchor not in list_anchors(target):
            yield f"{page.relative_to(ROOT)}: {path}#{anchor}"


def test_each_link_leads_to_a_page_and_a_heading_that_exist() -> None:
    assert [link for page in PAGES for link in find_dead_links(page)] == []


def list_nav(entries: Nav) -> Iterator[str]:
    """The pages that the navigation names, from top to bottom."""
    if isinstance(entries, str):
        yield entries
    else:
        for below in entries.values() if isinstance(entries, dict) else entries:
            yield from list_nav(below)


def test_the_navigation_names_each_page_once() -> None:
    site = cast(dict[str, Nav], yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8")))
    nav = list(list_nav(site["nav"]))
    assert sorted(nav) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_each_page_that_the_code_names_exists() -> None:
    code = [path for folder in ("src", "tools", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    named = {(path, page) for path in code for page in NAMED.findall(path.read_text("utf-8"))}
    assert named
    assert [f"{path.relative_to(ROOT)}: {page}" for path, page in sorted(named) if not (ROOT / page).exists()] == []
