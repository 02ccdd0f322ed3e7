# Two images from one file:
#   docker build --target web -t kbx-web .        the site, its control worker and beat; no torch
#   docker build --target worker -t kbx-worker .  a GPU worker; CUDA torch brings its own triton

FROM python:3.11-slim AS web
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1
WORKDIR /app
COPY requirements-web.txt ./
RUN pip install -r requirements-web.txt
COPY manage.py ./
COPY leaderboard leaderboard
COPY evaluator evaluator
COPY tasks tasks
COPY templates templates
COPY static static
# the site shows on a task's page how it differs from the published one
COPY docs/differences.md docs/differences.md
RUN SECRET_KEY=unused-while-collecting python manage.py collectstatic --noinput \
    && useradd --system --uid 10001 kbx
USER kbx
EXPOSE 8000
CMD ["gunicorn", "leaderboard.wsgi", "--bind", "0.0.0.0:8000", "--workers", "2", "--threads", "4"]

FROM python:3.11-slim AS worker
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1
WORKDIR /app
# Triton compiles its launchers with a C compiler at run time.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY requirements-worker.txt ./
RUN pip install -r requirements-worker.txt
COPY evaluator evaluator
COPY tasks tasks
RUN useradd --system --uid 10001 --create-home kbx
USER kbx
CMD ["sh", "-c", "exec celery -A evaluator.worker worker --queues gpu.$KBX_GPU --pool solo --concurrency 1"]
