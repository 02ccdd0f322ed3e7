from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = "KernelBench-X leaderboard"

    def ready(self) -> None:
        from leaderboard import celery  # noqa: F401  jobs are sent through this app
