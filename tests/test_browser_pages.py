"""Every page in Chromium, with data: no script error, no breach of the security policy, no sideways scroll."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard.models import Result
from tests import site_data

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CONTRAST = """() => {
  // The lowest contrast of text against the colour behind it, by WCAG's formula, and where it is.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255, 255];
  };
  let worst = { ratio: 21, text: "" };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || element.closest("script, style, noscript, svg") || !element.checkVisibility()) continue;
    const [a, b] = [luminance(rgb(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst.ratio) worst = { ratio, text: `${element.tagName}.${element.className}: ${node.data.trim()}` };
  }
  return worst;
}"""


@pytest.fixture
def addresses() -> list[str]:
    runs = site_data.fill()
    run = runs["Refiner 2 h200"]
    timed = Result.objects.filter(run=run, speedup__isnull=False)[0]
    return [
        "/", "/?gpu=cpu", "/categories/", "/tasks/", "/tasks/gelu/", "/tasks/fused_sum_std/",
        "/tasks/health/", "/wall/", "/methods/refiner/",
        "/methods/refiner/?outcome=correct&category=Math", run.get_absolute_url(), timed.get_absolute_url(),
        f"/runs/{run.pk}/matmul_w8a8/", "/accounts/login/", "/accounts/signup/",
    ]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_every_page(
    addresses: list[str], live_server: LiveServer, browser_page: Page, width: int, scheme: str
) -> None:
    browser_page.set_viewport_size({"width": width, "height": 900})
    browser_page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for address in addresses:
        browser_page.goto(live_server.url + address)
        for chart in browser_page.locator("figure.chart .plot").all():
            chart.locator(".main-svg").first.wait_for()
        wider = browser_page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wider <= 0, f"{address} scrolls sideways by {wider} px"
        worst = browser_page.evaluate(CONTRAST)
        assert worst["ratio"] >= 4.5, f"{address}: {worst}"


def test_charts_follow_the_colour_scheme_and_nothing_is_fetched_elsewhere(
    addresses: list[str], live_server: LiveServer, browser_page: Page
) -> None:
    asked: list[str] = []
    browser_page.on("request", lambda request: asked.append(request.url))
    browser_page.emulate_media(color_scheme="light")
    browser_page.goto(live_server.url + "/")
    tick = browser_page.locator(".xtick text").first
    dark_on_light = tick.evaluate("element => getComputedStyle(element).fill")
    browser_page.emulate_media(color_scheme="dark")
    browser_page.wait_for_function(
        "before => getComputedStyle(document.querySelector('.xtick text')).fill !== before", arg=dark_on_light
    )
    assert all(url.startswith((live_server.url, "data:", "blob:")) for url in asked), asked


def test_the_keyboard_reaches_the_content_first_and_sees_where_it_is(
    addresses: list[str], live_server: LiveServer, browser_page: Page
) -> None:
    browser_page.goto(live_server.url + "/")
    browser_page.keyboard.press("Tab")
    skip = browser_page.locator("a.skip")
    assert skip.evaluate("element => element === document.activeElement")
    browser_page.wait_for_function("document.querySelector('a.skip').getBoundingClientRect().top >= 0")
    browser_page.keyboard.press("Enter")
    assert browser_page.evaluate("document.activeElement.id") == "content"
    browser_page.keyboard.press("Tab")
    outline = browser_page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_a_line_of_a_source_has_an_address(
    addresses: list[str], live_server: LiveServer, browser_page: Page
) -> None:
    run = Result.objects.filter(task="matmul_w8a8").first()
    assert run
    browser_page.goto(live_server.url + run.get_absolute_url())
    browser_page.get_by_role("link", name="Line 8 of the source").click()
    assert browser_page.url.endswith("#L8")
    assert browser_page.locator("#L8").evaluate("element => element.matches(':target')")


def test_a_message_without_a_space_does_not_widen_the_page(
    addresses: list[str], live_server: LiveServer, browser_page: Page
) -> None:
    result = Result.objects.filter(task="matmul_w8a8")[0]
    result.report["failure"]["message"] = "ValueError: " + "y" * 600
    result.save()
    browser_page.goto(live_server.url + result.get_absolute_url())
    assert browser_page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
