from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("leaderboard.views.urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.account.urls")),
]
