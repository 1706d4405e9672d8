"""lemlist: campaigns, what their leads did, and adding leads. https://developer.lemlist.com"""

import json
from pathlib import Path
from typing import Any, Literal

from panorama.domain.text.json_types import is_object
from panorama.sources.config import SourceConfig
from panorama.sources.options import KindOption, Probe, check_options, read_address, read_secret
from panorama.sources.rest.client import RestClient, Service
from panorama.sources.rest.endpoints import read_endpoint, write_endpoint
from panorama.sources.rest.messages import build_path, encode_basic
from panorama.sources.rest.paging import Page, Rows, page_by_offset, parse_offset
from panorama.sources.rest.session import RestSession, drop_empty, limit_rows
from panorama.sources.rest.source import RestSource
from panorama.sources.secrets import SecretLookup
from panorama.sources.token_bucket import TokenBucket

ADDRESS = "https://api.lemlist.com/api"
OPTIONS = (KindOption(name="key", description="The API key of your lemlist team.", is_secret=True),)
VERSION = "v2"
"""Without it lemlist answers in an older form."""

CampaignStatus = Literal["", "running", "draft", "archived", "ended", "paused", "errors"]
Version = Literal["", "A", "B"]


@read_endpoint
def campaigns(session: RestSession, *, status: CampaignStatus = "", limit: int | None = None, cursor: str = "") -> Page:
    """List campaigns, the newest first: _id, name, labels, status, createdAt, createdBy, hasError.

    Args:
        status: Only campaigns with this status.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    return _list(session, "/campaigns", limit, cursor, status=status, sortBy="createdAt", sortOrder="desc")


@read_endpoint
def campaign(session: RestSession, campaign: str) -> dict[str, Any]:
    """Get a campaign.

    Args:
        campaign: Its id.
    """
    return session.read_object(session.get(build_path("campaigns", campaign)))


@read_endpoint
def stats(
    session: RestSession,
    campaign: str,
    *,
    start: str,
    end: str,
    send_user: str = "",
    version: Version = "",
    channels: list[str] | None = None,
) -> dict[str, Any]:
    """Get the counters of a campaign in a period: nbLeads, messagesSent, opened, clicked, replied and more.

    Args:
        campaign: Its id.
        start: ISO time.
        end: ISO time.
        send_user: Only one sender, as `usr_…|email`.
        version: Only one version of an A/B test.
        channels: Only these of email, linkedin, others.
    """
    answer = session.get(
        build_path("v2", "campaigns", campaign, "stats"),
        startDate=start,
        endDate=end,
        sendUser=send_user,
        ABSelected=version,
        channels=json.dumps(channels) if channels else "",  # JSON in a text here, a list in the batch
    )
    return session.read_object(answer)


@read_endpoint
def stats_of_campaigns(
    session: RestSession,
    campaigns: list[str],
    *,
    start: str,
    end: str,
    send_user: str = "",
    version: Version = "",
    channels: list[str] | None = None,
) -> dict[str, Any]:
    """Get the counters of up to 100 campaigns in a period: results, and errors of campaigns without them.

    Args:
        campaigns: Their ids.
        start: ISO time.
        end: ISO time.
        send_user: Only one sender, as `usr_…|email`.
        version: Only one version of an A/B test.
        channels: Only these of email, linkedin, others.
    """
    body = {"campaignIds": campaigns, "startDate": start, "endDate": end}
    filters = {"sendUser": send_user, "ABSelected": version, "channels": channels}
    return session.read_object(session.search("/v2/campaigns/stats/batch", {**body, **drop_empty(filters)}))


@read_endpoint
def activities(
    session: RestSession,
    *,
    type: str = "",
    campaign: str = "",
    lead: str = "",
    since: str = "",
    until: str = "",
    is_first: bool | None = None,
    limit: int | None = None,
    cursor: str = "",
) -> Page:
    """List what happened in campaigns, the newest first.

    Fields: _id, type, leadId, leadEmail, leadFirstName, campaignId, campaignName, sequenceStep, createdAt, bot.

    Args:
        type: Only this type, such as `emailsSent`, `emailsOpened`, `emailsReplied`.
        campaign: Id of a campaign.
        lead: Id of a lead.
        since: ISO time of the first activity.
        until: ISO time of the last activity.
        is_first: Only the first activity of its type for each lead, or only the others.
        limit: The most rows; all by default.
        cursor: The cursor of a page.
    """
    filters = {"type": type, "campaignId": campaign, "leadId": lead, "minDate": since, "maxDate": until}
    return _list(session, "/activities", limit, cursor, **filters, isFirst=is_first)


@read_endpoint
def team(session: RestSession) -> dict[str, Any]:
    """Get the team of the key: _id, name, userIds and more."""
    return session.read_object(session.get("/team", version=VERSION))


@read_endpoint
def team_credits(session: RestSession) -> dict[str, Any]:
    """Get the credits that the team has left."""
    return session.read_object(session.get("/team/credits"))


@read_endpoint
def hooks(session: RestSession) -> Rows:
    """List the webhooks of the team: _id, targetUrl, type."""
    return session.read_rows(session.get("/hooks"))


@write_endpoint("others")
def add_lead(
    session: RestSession, campaign: str, email: str, *, fields: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Add a person to a campaign; a running campaign writes to them.

    Args:
        campaign: Id of the campaign.
        email: Email of the person.
        fields: firstName, lastName, companyName, phone, and your own variables.
    """
    path = build_path("campaigns", campaign, "leads", email)
    return session.read_object(session.change("POST", path, drop_empty(fields or {})))


@write_endpoint("others")
def pause_campaign(session: RestSession, campaign: str) -> dict[str, Any]:
    """Pause a campaign; its leads get no more messages.

    Args:
        campaign: Its id.
    """
    return session.read_object(session.change("POST", build_path("campaigns", campaign, "pause")))


ENDPOINTS = (
    campaigns, campaign, stats, stats_of_campaigns, activities, team, team_credits, hooks, add_lead, pause_campaign,
)  # fmt: skip

PROBE: Probe = ("team", {})


def open_source(config: SourceConfig, secrets: SecretLookup, log_folder: Path) -> RestSource:  # noqa: ARG001 (kinds share it)
    """Return the source of an entry without connecting."""
    check_options(config, OPTIONS)

    def authorize() -> tuple[dict[str, str], list[str]]:
        key = read_secret(config, "key", secrets)
        credentials = encode_basic("", key)
        return {"Authorization": f"Basic {credentials}"}, [key, credentials]

    service = Service(
        title="lemlist",
        source=config.name,
        call_seconds=config.call_seconds,
        base=read_address(config, ADDRESS),
        authorize=authorize,
        bucket=TokenBucket(per_second=10, burst=20),  # 20 requests in 2 seconds for each key
    )
    return RestSource(RestClient(service), ENDPOINTS)


def _list(session: RestSession, path: str, limit: int | None, cursor: str, **filters: Any) -> Page:
    size = limit_rows(limit)
    answer = session.get(path, version=VERSION, limit=size, offset=parse_offset(cursor), **filters)
    names = (path.removeprefix("/"),) if is_object(answer) else ()  # lemlist answers with a list or with an object
    return page_by_offset(session.read_rows(answer, *names), cursor, size)
