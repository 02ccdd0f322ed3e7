"""A submission's source as HTML: coloured by classes, numbered, every line with an address (#L12)."""

from __future__ import annotations

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from evaluator.report import visible

MOST_COLOURED = 60_000
"""Characters above which a source is shown plain: colouring takes about a second for 200 kB."""

_HIDDEN = '<span class="hidden-character">{}</span>'


def numbered(source: str, failing_line: int | None = None) -> SafeString:
    """The lines of the source, the failing one marked. Everything in it is escaped."""
    lines = format_html_join(
        "",
        '<span class="line{}" id="L{}"><a href="#L{}" aria-label="line {}">{}</a><span>{}\n</span></span>',
        (
            (" failing" if number == failing_line else "", number, number, number, number, line)
            for number, line in enumerate(_lines(source), 1)
        ),
    )
    return format_html('<pre class="source" tabindex="0"><code>{}</code></pre>', lines)


def coloured(source: str) -> SafeString:
    """The source without numbers, for what is only read."""
    lines = format_html_join("\n", "{}", ((line,) for line in _lines(source)))
    return format_html('<pre class="source unnumbered" tabindex="0"><code>{}</code></pre>', lines)


def _lines(source: str) -> list[SafeString]:
    source = source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    if len(source) <= MOST_COLOURED:
        # Pygments escapes, and closes every span at the end of its line.
        lexer = PythonLexer(stripnl=False, ensurenl=False)
        html = highlight(source, lexer, HtmlFormatter(nowrap=True)).removesuffix("\n")
    else:
        html = escape(source)
    return [mark_safe(visible(line, _HIDDEN)) for line in html.split("\n")]
