"""Settings, read once from the environment and from `config.toml` in the data directory."""

from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from tzlocal import get_localzone_name

from panorama.errors import InvalidInputError
from panorama.transport import address

TOOLSETS = ("default", "more", "files", "jobs", "people", "sessions", "calendar", "graph", "apps")


def data_directory() -> Path:
    """Return the data directory: `PANORAMA_HOME`, else the platform's folder for user data."""
    return Path(address.data_directory())


def local_zone() -> str:
    """Return the IANA name of this machine's time zone, or "UTC" if unknown."""
    try:
        name = get_localzone_name() or "UTC"
        ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        return "UTC"
    return name


class Settings(BaseSettings):
    """The settings; each can also be set as `PANORAMA_<NAME>` in the environment."""

    model_config = SettingsConfigDict(env_prefix="PANORAMA_", extra="ignore", frozen=True)

    home: Path = Field(default_factory=data_directory, description="Data directory.")
    timezone: str = Field(default_factory=local_zone, description="IANA name of your time zone.")
    toolsets: Annotated[tuple[str, ...], NoDecode] = Field(
        default=("default",),
        description="Groups of listed tools; `more` adds updates of links, reminders and journal, "
        "`files` reads and writes files, `jobs` keeps schedules, `people` keeps people and teams, `sessions` "
        "keeps meetings, `calendar` events, `graph` walks and measures the graph, `apps` shows views in a chat.",
    )
    log_days: int = Field(default=30, ge=1, le=3650, description="Days to keep the call log.")
    trash_days: int = Field(
        default=30, ge=0, le=36_500, description="Days an item stays in the trash before a purge deletes it."
    )
    backups_kept: int = Field(
        default=10,
        ge=0,
        le=10_000,
        description="Number of backups to keep in a folder; the next one removes older ones. 0 keeps all.",
    )
    backup_days: int = Field(
        default=90,
        ge=0,
        le=36_500,
        description="Days to keep backups; the newest is always kept. 0 keeps them for ever.",
    )
    busy_seconds: float = Field(
        default=10.0,
        ge=0.05,
        le=300,
        description="Seconds a write waits for another program's lock on the database.",
    )
    linger_seconds: float = Field(
        default=300.0,
        ge=0,
        le=31_536_000,
        description="Seconds the daemon keeps running after its last client disconnects.",
    )
    desktop_notifications: bool = Field(
        default=True,
        description="Also show reminders on the desktop (`notify-send`, `osascript`).",
    )
    database_url: SecretStr = Field(
        default=SecretStr(""),
        description="Address of a PostgreSQL database that holds the data instead of the file in the data directory, "
        "such as postgresql://anna@db.example.org/panorama. Needs the extra `postgres`.",
    )
    space: str = Field(
        default="main",
        pattern=r"^[a-z][a-z0-9_]{0,39}$",
        description="Whose data of that database this is: a space for each person or team, with its own rights.",
    )
    files_url: str = Field(
        default="",
        description="Bucket and prefix of an S3-compatible store for the contents of files, such as "
        "s3://team-files/panorama. Needs the extra `s3`.",
    )
    files_endpoint: str = Field(
        default="", description="Address of that store, such as https://minio.example.org; empty for Amazon's."
    )
    files_region: str = Field(default="us-east-1", description="Region of the bucket.")
    files_key_id: str = Field(
        default="", description="Access key id for the bucket; empty for the machine's own credentials."
    )
    files_key: SecretStr = Field(default=SecretStr(""), description="Secret access key for the bucket.")
    http_port: int = Field(
        default=0,
        ge=0,
        le=65_535,
        description="Port on this machine for MCP over HTTP; 0 for none.",
    )

    charts: Literal["off", "png", "svg"] = Field(
        default="off",
        description="Whether the dashboard of a project and the weekly review come with a chart, and scripts with the "
        "images that they return, for clients that show images: `png` for models too, `svg` for people only.",
    )

    web: bool = Field(
        default=False,
        description="Whether the web page is served as soon as the daemon starts, which then stays; otherwise "
        "`panorama open` starts it.",
    )
    web_port: int = Field(
        default=0,
        ge=0,
        le=65_535,
        description="Port on this machine of the web page; 0 for its last one, or any free one.",
    )

    script_isolation: Literal["language-only", "seatbelt", "seccomp", "seccomp+landlock"] = Field(
        default="language-only",
        description="The least isolation that scripts need: `language-only` (a separate process and an allow-listed "
        "language), `seatbelt` (macOS, untested), or on Linux `seccomp` or `seccomp+landlock` (the kernel refuses "
        "everything but computing). Where the machine offers less, scripts are refused.",
    )

    embedder: str = Field(
        default="",
        description="Model that search by meaning uses: `duo`, `minilm`, `static`, `ollama:<model>` or "
        "`openai:<address>#<model>`; `none` turns it off. Empty for the best that this machine can run.",
    )
    index_engine: Literal["auto", "edge", "exact"] = Field(
        default="auto",
        description="Index of vectors without a server: `edge` (Qdrant Edge), `exact` (numpy, in memory).",
    )
    qdrant_url: str = Field(
        default="",
        description="Address of a Qdrant server that keeps the vectors instead, such as http://localhost:6333.",
    )
    qdrant_key: SecretStr = Field(
        default=SecretStr(""), description="API key of that server; beyond this machine it needs https://."
    )
    qdrant_shared: bool = Field(
        default=False,
        description="Whether the vectors of all spaces of that server are in one collection per model, separated by a "
        "field, for hundreds of spaces; otherwise each space has its own.",
    )
    qdrant_replicas: int = Field(
        default=1,
        ge=1,
        le=9,
        description="On how many nodes of a Qdrant cluster a new collection is stored.",
    )
    qdrant_write_consistency: int = Field(
        default=1,
        ge=1,
        le=9,
        description="How many of these must have stored a write before it counts; at most `qdrant_replicas`.",
    )
    qdrant_quantization: Literal["off", "scalar", "turbo"] = Field(
        default="scalar",
        description="Compressed copies of the vectors in a new collection, by which candidates are found before the "
        "vectors rank them: `scalar` (a byte per dimension), `turbo` (half of that; Qdrant 1.18) or `off`.",
    )

    @field_validator("timezone")
    @classmethod
    def _validate_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ValueError, OSError, LookupError) as error:
            raise ValueError(f"there is no time zone {name!r}; use an IANA name such as Europe/Berlin") from error
        return name

    @field_validator("qdrant_write_consistency")
    @classmethod
    def _validate_consistency(cls, count: int, info: ValidationInfo) -> int:
        if count > info.data.get("qdrant_replicas", count):
            raise ValueError("it must not be greater than qdrant_replicas")
        return count

    @field_validator("toolsets", mode="before")
    @classmethod
    def _validate_toolsets(cls, value: object) -> tuple[str, ...]:
        names = value.split(",") if isinstance(value, str) else list[Any](value)  # type: ignore[call-overload] (this rejects everything but lists)
        chosen = {"default", *(str(name).strip() for name in names if str(name).strip())}
        if unknown := sorted(chosen - set(TOOLSETS)):
            raise ValueError(f"there is no toolset {unknown[0]!r}; there are {', '.join(TOOLSETS)}")
        return tuple(name for name in TOOLSETS if name in chosen)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments first, then the environment, then `config.toml`."""
        home = Path(getattr(init_settings, "init_kwargs", {}).get("home") or data_directory())
        toml = TomlConfigSettingsSource(settings_cls, home / "config.toml")
        return init_settings, env_settings, toml

    @cached_property
    def zone(self) -> ZoneInfo:
        """The time zone of dates."""
        return ZoneInfo(self.timezone)

    def as_local(self) -> "Settings":
        """Return these settings with the data in the file of the data directory."""
        return self.model_copy(update={"database_url": SecretStr("")})

    @property
    def log_age(self) -> timedelta:
        """How long the call log is kept."""
        return timedelta(days=self.log_days)


def read_settings(**chosen: Any) -> Settings:
    """Read the settings, with `chosen` above all else.

    Raises:
        InvalidInputError: A setting has a value that cannot be used.
    """
    try:
        return Settings(**chosen)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors(include_url=False)
        )
        raise InvalidInputError(f"The settings cannot be used: {wrong}.", hint=_CONFIG_HINT) from error
    except ValueError as error:
        raise InvalidInputError(f"config.toml cannot be read: {error}.", hint=_CONFIG_HINT) from error


_CONFIG_HINT = "Fix config.toml in the data directory, or the PANORAMA_ variable."
