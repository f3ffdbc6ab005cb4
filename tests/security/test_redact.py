"""What must never be said, shown or logged, and what must not be taken for it."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.security.redact import REDACTED, mask_line, mask_number, redact

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAyX9zKqLm0c2VbTnZ\nq8yZ0cVbTnZyX9zKqLm0c2VbTnZyX9zK\n"
    "-----END RSA PRIVATE KEY-----"
)
SECRETS = {
    "sk-ant-api03-R2D2c3poAbCdEfGhIjKl-_xYz": None,
    "sk-proj-aB3dEfGhIjKlMnOpQrStUvWx": None,
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc": None,
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a": None,
    "gho_16C7e42F292c6912E7710c838347Ae178B4a": None,
    "github_pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUVWXYZ0123456789": None,
    "AKIAIOSFODNN7EXAMPLE": None,
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "xoxb-1234567890-abcdefABCDEF": None,
    "AIzaSyA1234567890abcdefghijklmnopqrstuv": None,
    "SK0123456789abcdef0123456789abcdef": None,
    "TWILIO_AUTH_TOKEN=0123456789abcdef0123456789abcdef": "0123456789abcdef0123456789abcdef",
    JWT: None,
    PEM: "MIIEowIBAAKCAQEA",
    PEM[:90]: "MIIEowIBAAKCAQEA",
    PEM.replace("\n", "\\n"): "MIIEowIBAAKCAQEA",
    "https://anna:s3cret@example.com/repo.git": "s3cret",
    "postgres://app:p@ss@db.internal:5432/keryx": "p@ss",
    "Authorization: Bearer abc.def-123": "abc.def-123",
    '{"authorization": "Basic dXNlcjpwYXNz"}': "dXNlcjpwYXNz",
    "Cookie: session=abcdef; theme=dark": "abcdef",
    "password=hunter2": "hunter2",
    "password = swordfish": "swordfish",
    "**Password:** hunter2": "hunter2",
    'DB_PASSWORD="correct horse battery"': "correct horse",
    '{"client_secret": "abc123def"}': "abc123def",
    "token: abc123def": "abc123def",
    "api key: 9f8e7d6c": "9f8e7d6c",
    "the password is hunter2": "hunter2",
    "PIN: 001234": "001234",
    "curl --token s3cr3tvalue": "s3cr3tvalue",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX": "XXXXXXXX",
    "http://127.0.0.1:8080/?key=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA-_aa": "Zm9vYmFy",
    "it is Zx8Kq2LmN0pRs7TuVw3Yb5Cd9EfGh1Jk": "Zx8Kq2LmN0pRs7TuVw3Yb5Cd9EfGh1Jk",
}
ORDINARY = [
    "Fixed in commit 4f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39, also a1b2c3d.",
    "https://github.com/acme/billing/commit/4f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39",
    "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "550e8400-e29b-41d4-a716-446655440000",
    "call CA0123456789abcdef0123456789abcdef",
    "v3.12.1 and numpy-2.1.0-cp311-cp311-manylinux_2_17_x86_64.whl",
    "src/billing/invoice_total_2024_final_version.py",
    "getUserByIdAndName2FactorAuthV3Handler",
    "internationalisation of the counterrevolutionaries",
    "pod billing-worker-7d9f8b6c5d-x2x9z restarted",
    "max_tokens=4096, input tokens: 1200",
    "def login(password: str, token: str = None)",
    "token: the lexer's unit of work",
    "password=os.environ['DB'] and token=next_token()",
    "git@github.com:acme/billing.git",
    "sk-learn-some-long-kebab-name",
    "The token was expired, so the key question is whether the secret stays.",
    "2026-03-01T14:05:33+00:00",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_replaced_and_the_words_around_it_stay(text: str) -> None:
    clean = redact(f"before {text}\nafter this")
    assert (SECRETS[text] or text) not in clean
    assert REDACTED in clean
    assert clean.startswith("before ")
    assert clean.endswith("after this")


@pytest.mark.parametrize("text", ORDINARY)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


def test_the_host_of_an_address_with_a_password_stays() -> None:
    assert redact("https://u:p@example.com/x") == f"https://{REDACTED}@example.com/x"


@pytest.mark.parametrize("text", [*SECRETS, *ORDINARY])
def test_redacting_again_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@settings(deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from([*SECRETS, *ORDINARY, "password", "=", ": ", '"', "is ", "\n", "-----BEGIN X-----"]), max_size=8
    )
)
def test_redacting_again_changes_nothing_whatever_stands_together(pieces: list[str]) -> None:
    clean = redact(" ".join(pieces))
    assert redact(clean) == clean


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "aA1",
        "/a1",
        "-----BEGIN A-----",
        "eyJaaaaaaa-",
        "password=",
        "://a:",
        "bearer ",
        "-",
        'key="',
        " ",
        "cookie: a",
    ],
)
def test_a_long_text_of_anything_takes_time_in_proportion(unit: str) -> None:
    began = time.perf_counter()
    redact(unit * (400_000 // len(unit)))
    assert time.perf_counter() - began < 10


@pytest.mark.parametrize(
    ("number", "masked"),
    [
        ("+15551234567", "+1555***4567"),
        ("+4915112345678", "+4915***5678"),
        ("12345", "***45"),
        ("anonymous", "***"),
        ("", "***"),
    ],
)
def test_a_number_is_masked_so_that_it_can_be_told_but_not_called(number: str, masked: str) -> None:
    assert mask_number(number) == masked


@pytest.mark.parametrize("number", ["+15551234567", "+1 555 123 4567", "(555) 123-4567", "%2B15551234567"])
def test_a_log_line_holds_no_whole_number(number: str) -> None:
    line = mask_line(f"10:42:07 INFO caller={number} refused token: abc123def")
    assert "1234567" not in line.replace(" ", "").replace("-", "")
    assert line.startswith("10:42:07 INFO caller=")
    assert "abc123def" not in line


def test_a_date_and_an_id_are_no_telephone_numbers() -> None:
    line = "2026-03-01T14:05:33+00:00 call=CA0123456789abcdef0123456789abcdef bytes=15551234567"
    assert mask_line(line) == line
