"""A task's formula as MathML, which browsers show without scripts, styles or fonts of ours."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from django.utils.safestring import SafeString, mark_safe
from latex2mathml.converter import convert

_ROWS = ("math", "mrow", "mstyle", "mtd", "msqrt")  # elements whose children stand side by side
_OPENS = ("(", "[", "{", "|")


@cache
def mathml(latex: str) -> SafeString:
    """The formula, set apart from the text around it. `latex` is ours: a task declares it."""
    math = ElementTree.fromstring(convert(latex, display="block", xmlns=""))
    _join_words(math)
    _space_functions(math)
    return mark_safe(ElementTree.tostring(math, encoding="unicode"))


def _join_words(parent: Element) -> None:
    """softmax as one word; the converter gives every letter an element of its own."""
    for place, child in enumerate(list(parent)):
        text = "".join(child.itertext())
        if child.tag == "mrow" and len(child) > 1 and all(_is_upright(letter) for letter in child):
            parent[place] = _element("mi", text)  # of more than one letter, it is upright
        elif child.tag == "mo":
            parent[place] = _operator(child, text)
        else:
            _join_words(child)


def _operator(element: Element, text: str) -> Element:
    """What stands between things keeps its space; the name of a function (max, sup) is an identifier."""
    if text.isalpha() and text.isascii() and text != "mod":
        return _element("mi", text)
    return _element("mo", text) if len(element) else element


def _space_functions(parent: Element) -> None:
    """A thin space after a function's name, as in TeX, unless a bracket follows."""
    for child in parent:
        _space_functions(child)
    if parent.tag not in _ROWS:
        return
    for place in reversed(range(len(parent) - 1)):
        follower = next(parent[place + 1].itertext(), "")
        if _is_function(parent[place]) and parent[place + 1].tag != "mspace" and follower not in _OPENS:
            parent.insert(place + 1, Element("mspace", width="0.167em"))


def _is_upright(element: Element) -> bool:
    return element.get("mathvariant") == "normal" or element.tag == "mn"  # conv2d


def _is_function(element: Element) -> bool:
    name = element[0] if element.tag in ("msub", "msup", "msubsup", "munder") else element
    return name.tag == "mi" and len(name.text or "") > 1 and (name.text or "").isalnum()


def _element(tag: str, text: str) -> Element:
    element = Element(tag)
    element.text = text
    return element
