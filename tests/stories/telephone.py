"""The telephone line of a story's daemon."""

from tests.support.twilio_line import Account

ACCOUNT = Account(auth_token="story-token", public_url="https://keryx.story.example")
OWNER = "+15552340001"
STRANGER = "+15552349999"
PIN = "427190"
TELEPHONE = {
    "KERYX_TWILIO__ACCOUNT_SID": ACCOUNT.account_sid,
    "KERYX_TWILIO__AUTH_TOKEN": ACCOUNT.auth_token,
    "KERYX_TWILIO__NUMBER": ACCOUNT.number,
    "KERYX_SERVER__PUBLIC_URL": ACCOUNT.public_url,
    "KERYX_OWNER__NUMBERS": OWNER,
    "KERYX_OWNER__PIN": PIN,
}
"""The daemon's settings for it, as environment variables."""
