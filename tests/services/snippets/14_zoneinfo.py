# expect: {"vienna": "2026-06-12 18:30", "tokyo": "2026-06-13 01:30", "diff": 7.0}
from datetime import datetime
from zoneinfo import ZoneInfo

meeting = datetime(2026, 6, 12, 16, 30, tzinfo=ZoneInfo("UTC"))
vienna = meeting.astimezone(ZoneInfo("Europe/Vienna"))
tokyo = meeting.astimezone(ZoneInfo("Asia/Tokyo"))
fmt = "%Y-%m-%d %H:%M"
diff = (tokyo.utcoffset() - vienna.utcoffset()).total_seconds() / 3600
return {"vienna": vienna.strftime(fmt), "tokyo": f"{tokyo:%Y-%m-%d %H:%M}", "diff": diff}
