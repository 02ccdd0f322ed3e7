"""Settings, from the environment or a file `.env` (see .env.example).

Importing them needs no service: without DATABASE_URL and REDIS_URL they name the embedded services that
`make run` keeps under var/, or, while those are stopped, hosts that cannot exist.
"""

from __future__ import annotations

import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from leaderboard.embedded import NO_SERVICES, read_addresses

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
env.read_env(BASE_DIR / ".env")

VAR_DIR = Path(env.str("KBX_VAR", str(BASE_DIR / "var")))
DEBUG = env.bool("DEBUG", False)


# Services: PostgreSQL and a Redis protocol server, always.

_addresses = read_addresses(VAR_DIR) or NO_SERVICES
DATABASES: dict[str, Any] = {
    "default": {
        **env.db_url("DATABASE_URL", _addresses.database_url),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }
}
if DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
    raise ImproperlyConfigured("DATABASE_URL must begin with postgres://, there is no other database path.")

REDIS_URL: str = env.str("REDIS_URL", _addresses.redis_url)


def _next_redis_database(url: str) -> str:
    """The cache has a numbered database of its own, because clearing it must not empty the queues."""
    server, _, number = url.rpartition("/")
    return f"{server}/{int(number) + 1}" if number.isdigit() else f"{url.rstrip('/')}/1"


CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": env.str("CACHE_REDIS_URL", _next_redis_database(REDIS_URL)),
        "KEY_PREFIX": "kbx",
    }
}

CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A page that sends a job must not hang on a lost broker: the sweeper sends again what was not sent.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 3, "socket_keepalive": True}
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.2}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_DEFAULT_QUEUE = "control"
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "leaderboard.sweep", "schedule": 10.0, "options": {"expires": 10}},
}


# Where it is served.

SITE_URL = env.str("SITE_URL", "http://127.0.0.1:8000").rstrip("/")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
if SITE_URL.startswith("https://"):
    CSRF_TRUSTED_ORIGINS = [SITE_URL]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 60 * 60 * 24 * 30
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True


def _secret_key() -> str:
    """The environment's, or one that is made once and kept under var/."""
    key: str = env.str("SECRET_KEY", "")
    if key:
        return key
    if "DATABASE_URL" in env.ENVIRON and not DEBUG:
        raise ImproperlyConfigured(
            "Set SECRET_KEY: with a DATABASE_URL of your own it is not made up for you."
        )
    VAR_DIR.mkdir(parents=True, exist_ok=True)
    path = VAR_DIR / "secret_key"
    try:
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    return path.read_text()


SECRET_KEY = _secret_key()


# Django.

INSTALLED_APPS = [
    "leaderboard",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "csp",
    "allauth",
    "allauth.account",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "leaderboard.urls"
WSGI_APPLICATION = "leaderboard.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
X_FRAME_OPTIONS = "DENY"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True


# Accounts.

AUTH_USER_MODEL = "leaderboard.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = env.str("ACCOUNT_EMAIL_VERIFICATION", "optional")
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/"

_email = env.email_url("EMAIL_URL", "consolemail://")
EMAIL_BACKEND = _email["EMAIL_BACKEND"]
EMAIL_HOST = _email["EMAIL_HOST"]
EMAIL_PORT = _email["EMAIL_PORT"]
EMAIL_HOST_USER = _email["EMAIL_HOST_USER"]
EMAIL_HOST_PASSWORD = _email["EMAIL_HOST_PASSWORD"]
EMAIL_USE_TLS = _email.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = _email.get("EMAIL_USE_SSL", False)
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", "leaderboard@localhost")


# Static files: ours, and Plotly's script out of the installed package, found without importing Plotly.

_plotly = find_spec("plotly")
assert _plotly and _plotly.origin
STATIC_URL = "static/"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("plotly", Path(_plotly.origin).parent / "package_data"),
]
PLAIN_STATIC = env.bool("KBX_PLAIN_STATIC", DEBUG)  # served as they lie, nothing collected
STATIC_ROOT = None if PLAIN_STATIC else BASE_DIR / "staticfiles"
WHITENOISE_USE_FINDERS = PLAIN_STATIC
_static_storage = (
    "django.contrib.staticfiles.storage.StaticFilesStorage"
    if PLAIN_STATIC
    else "whitenoise.storage.CompressedManifestStaticFilesStorage"
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": _static_storage},
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        # By hash, two style elements that Plotly's script makes: an empty one, which it fills with rules, and
        # the one of its map library. The second hash changes with Plotly; the browser's console names it.
        "style-src": [
            SELF,
            "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
            "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='",
        ],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}


# Uploads.

KBX_MAX_UPLOAD_BYTES = env.int("KBX_MAX_UPLOAD_BYTES", 10_000_000)
KBX_MAX_KERNEL_BYTES = env.int("KBX_MAX_KERNEL_BYTES", 256_000)
# The submit view answers larger bodies with a sentence before Django would with a bare 400.
DATA_UPLOAD_MAX_MEMORY_SIZE = KBX_MAX_UPLOAD_BYTES + 1_000_000

# Seconds that a run waits for a worker of its GPU to come up at all.
KBX_QUEUE_TIMEOUT = env.int("KBX_QUEUE_TIMEOUT", 24 * 60 * 60)


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {
        "stdout": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout", "formatter": "line"}
    },
    "root": {"handlers": ["stdout"], "level": env.str("LOG_LEVEL", "INFO")},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        # Two lines for every heartbeat and report otherwise.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
    },
}
