from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.account.urls")),
]
if find_spec("leaderboard.views.urls"):
    urlpatterns.append(path("", include("leaderboard.views.urls")))
