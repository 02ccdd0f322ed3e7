"""The fixtures that browser tests stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.conftest import LiveSite


@pytest.mark.browser
def test_somebody_signs_up_on_the_live_site(live_site: LiveSite, browser_page: Page) -> None:
    from leaderboard.models import User

    browser_page.goto(f"{live_site.url}/accounts/signup/")
    browser_page.get_by_label("Username").fill("ada")
    browser_page.get_by_label("Email").fill("ada@example.org")
    for field in browser_page.locator("input[type=password]").all():
        field.fill("a long enough pass phrase")
    browser_page.locator("main form, form").filter(has=browser_page.locator("input[type=password]")).locator(
        "button[type=submit], button"
    ).first.click()
    browser_page.wait_for_url(f"{live_site.url}/")
    assert User.objects.get().username == "ada"
