"""A page for the report of a benchmark: one HTML file that needs no network."""

from collections.abc import Mapping

from jinja2 import Environment, StrictUndefined

_TEMPLATE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>insula bench: {{ title }}</title>
<style>
  :root { color-scheme: light; font: 15px/1.5 system-ui, sans-serif; color: #1b2733; }
  body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
  .wide { overflow-x: auto; }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
  th, td { padding: .3rem .8rem .3rem 0; text-align: right; border-bottom: 1px solid #e3e7eb; }
  th:first-child, td:first-child { text-align: left; }
  img { max-width: 100%; height: auto; }
</style>
<h1>{{ title }}</h1>
<p>{{ rule }}</p>
{% for name, (head, rows) in tables.items() %}
<h2>{{ name }}</h2>
<div class="wide"><table>
<tr>{% for cell in head %}<th>{{ cell }}</th>{% endfor %}</tr>
{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</table></div>
{% endfor %}
{% for name, picture in pictures.items() %}
<p><img src="data:image/png;base64,{{ picture }}" alt="{{ name }}"></p>
{% endfor %}
{% if missing %}<p>There are no plots here: {{ missing }}</p>{% endif %}
</html>
"""

Rows = tuple[tuple[str, ...], list[tuple[str, ...]]]


def page(
    title: str, rule: str, tables: Mapping[str, Rows], pictures: Mapping[str, str], missing: str | None = None
) -> str:
    """A page of tables and pictures, with everything in them escaped.

    Args:
        tables: head and rows by title.
        pictures: PNG in base64 by what they show.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    template = environment.from_string(_TEMPLATE)
    return template.render(title=title, rule=rule, tables=tables, pictures=pictures, missing=missing)
