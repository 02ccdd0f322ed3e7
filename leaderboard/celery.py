"""The control side's Celery app. GPU workers have their own: evaluator/worker.py."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")

app = Celery("leaderboard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["leaderboard"], related_name="jobs")
app.set_default()  # for every thread of the web process, not only for the one that imports this
