"""The addresses of all pages but accounts and admin."""

from django.urls import path

from leaderboard.views import categories, leaderboard, method, result, run, submit, task, wall

urlpatterns = [
    path("", leaderboard.leaderboard, name="leaderboard"),
    path("categories/", categories.categories, name="categories"),
    path("tasks/", task.tasks, name="tasks"),
    path("tasks/health/", task.health, name="task_health"),
    path("tasks/pack.jsonl", task.pack, name="task_pack"),
    path("tasks/<slug:name>/", task.task, name="task"),
    path("methods/<slug:slug>/", method.method, name="method"),
    path("wall/", wall.wall, name="wall"),
    path("submit/", submit.submit, name="submit"),
    path("submissions/<int:pk>/", submit.submission, name="submission"),
    path("submissions/<int:pk>/evaluate/", submit.evaluate, name="evaluate"),
    path("submissions/<int:pk>/discard/", submit.discard, name="discard"),
    path("runs/<int:pk>/", run.run, name="run"),
    path("runs/<int:pk>/progress/", run.run_progress, name="run_progress"),
    path("runs/<int:pk>/cancel/", run.cancel_run, name="cancel_run"),
    path("runs/<int:pk>/<slug:task>/", result.result, name="result"),
]
