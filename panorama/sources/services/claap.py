"""Claap: recordings of meetings, their transcripts and action items. https://docs.claap.io"""

from pathlib import Path
from typing import Any, Literal

from panorama.sources.config import SourceConfig
from panorama.sources.options import KindOption, Probe, check_options, read_address, read_secret
from panorama.sources.rest.client import RestClient, Service
from panorama.sources.rest.endpoints import read_endpoint, write_endpoint
from panorama.sources.rest.messages import build_path
from panorama.sources.rest.paging import Page, page_by_cursor
from panorama.sources.rest.session import RestSession, drop_empty, limit_rows
from panorama.sources.rest.source import RestSource
from panorama.sources.secrets import SecretLookup
from panorama.sources.token_bucket import TokenBucket

ADDRESS = "https://api.claap.io/v1"
OPTIONS = (KindOption(name="key", description="The API key of your Claap workspace.", is_secret=True),)

RecordingSort = Literal["created_desc", "created_asc"]


@read_endpoint
def recordings(
    session: RestSession,
    *,
    created_after: str = "",
    created_before: str = "",
    labels: list[str] | None = None,
    channel: str = "",
    recorder_email: str = "",
    recorder: str = "",
    sort: RecordingSort = "created_desc",
    limit: int | None = None,
    cursor: str = "",
) -> Page:
    """List recordings of meetings.

    Fields: id, title, createdAt, durationSeconds, labels, state, url, channel, recorder, meeting (participants with
    name and email), companies, deal, actionItems, keyTakeaways, outlines, transcripts. Claap cannot search for
    words: filter by labels, or search the titles in the script.

    Args:
        created_after: ISO date or time, in UTC.
        created_before: ISO date or time, in UTC.
        labels: Only recordings with one of these labels.
        channel: Id of a channel.
        recorder_email: Email of the person who recorded.
        recorder: Id of the person who recorded.
        sort: The newest or the oldest first.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    answer = session.get(
        "/recordings",
        createdAfter=created_after,
        createdBefore=created_before,
        labels=",".join(labels or ()),
        channelId=channel,
        recorderEmail=recorder_email,
        recorderId=recorder,
        sort=sort,
        limit=limit_rows(limit),
        cursor=cursor,
    )
    result = session.read_object(answer, "result")
    return page_by_cursor(
        session.read_rows(result, "recordings"), cursor, session.find(result, "pagination", "nextCursor")
    )


@read_endpoint
def recording(session: RestSession, recording: str) -> dict[str, Any]:
    """Get a recording with its action items, key takeaways and outlines.

    Args:
        recording: Its id.
    """
    return session.read_object(session.get(build_path("recordings", recording)), "result", "recording")


@read_endpoint
def transcript(session: RestSession, recording: str, *, lang: str = "") -> dict[str, Any]:
    """Get the transcript of a recording: languageCode, and segments with startedAt, endedAt, speaker and text.

    Args:
        recording: Its id.
        lang: Code of the language, such as `en`; by default the active transcript.
    """
    path = build_path("recordings", recording, "transcript")
    return session.read_object(session.get(path, lang=lang, format="json"), "result")


@write_endpoint("others", takes_address=True)
def create_recording(
    session: RestSession,
    *,
    author_email: str,
    title: str = "",
    download_url: str = "",
    channel: str = "",
    started_at: str = "",
    ended_at: str = "",
    participants: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Create a recording, which people in its channel can see; Claap allows 50 in 30 days.

    Args:
        author_email: Email of a user of the workspace.
        title: Its title.
        download_url: Address from which Claap downloads the video; without one the answer has an upload address.
        channel: Id of a channel.
        started_at: Start of the meeting, ISO in UTC.
        ended_at: End of the meeting, ISO in UTC.
        participants: People with name and email.
    """
    meeting = drop_empty({"startedAt": started_at, "endedAt": ended_at, "participants": participants})
    fields = {"title": title, "downloadUrl": download_url, "channelId": channel, "meeting": meeting}
    body = {"authorEmail": author_email, **drop_empty(fields)}
    return session.read_object(session.change("POST", "/recordings", body), "result")


@write_endpoint("others", destructive=True)
def delete_recording(session: RestSession, recording: str) -> None:
    """Delete a recording for everyone.

    Args:
        recording: Its id.
    """
    session.change("DELETE", build_path("recordings", recording))


ENDPOINTS = (recordings, recording, transcript, create_recording, delete_recording)

PROBE: Probe = ("recordings", {"limit": 1})


def open_source(config: SourceConfig, secrets: SecretLookup, log_folder: Path) -> RestSource:  # noqa: ARG001 (kinds share it)
    """Return the source of an entry without connecting."""
    check_options(config, OPTIONS)

    def authorize() -> tuple[dict[str, str], list[str]]:
        key = read_secret(config, "key", secrets)
        return {"X-Claap-Key": key}, [key]

    service = Service(
        title="Claap",
        source=config.name,
        call_seconds=config.call_seconds,
        base=read_address(config, ADDRESS),
        authorize=authorize,
        bucket=TokenBucket(per_second=5, burst=5),  # Claap publishes no limits
    )
    return RestSource(RestClient(service), ENDPOINTS)
