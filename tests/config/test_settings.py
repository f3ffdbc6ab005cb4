"""What each field accepts, and what it makes of it."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from keryx.config.checks import is_loopback, system_timezone
from keryx.config.settings import SECTIONS, TABLES, Settings, allowed

LINE = {
    "owner": {"numbers": "+15551234567", "pin": "001234"},
    "server": {"public_url": "https://keryx.example.org"},
    "twilio": {"account_sid": "AC" + "0" * 32, "auth_token": "a-token", "number": "+15557654321"},
}


def test_a_daemon_without_any_setting_listens_on_this_machine_only() -> None:
    settings = Settings()
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 8080)
    assert not settings.telephone


def test_every_field_says_in_words_what_it_allows() -> None:
    for section, model in SECTIONS.items():
        for field in model.model_fields:
            assert model.model_fields[field].description, f"{section}.{field}"
    assert all("NAME" in allowed(table, "anything") for table in TABLES)


@pytest.mark.parametrize("pin", ["0000", "001234", "123456789012"])
def test_a_pin_keeps_its_leading_zeros(pin: str) -> None:
    settings = Settings.model_validate({"owner": {"pin": pin}})
    assert settings.owner.pin == pin
    assert Settings.model_validate_json(settings.model_dump_json()).owner.pin == pin


@pytest.mark.parametrize("pin", [1234, 668, True, "123", "1234567890123", "12 34", "12a4", "١٢٣٤", ["1234"], 12.5])
def test_a_pin_that_is_not_four_to_twelve_quoted_digits_is_refused(pin: object) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"owner": {"pin": pin}})


@pytest.mark.parametrize("numbers", ["+15551234567, +4915112345678", ["+1 555 123 4567", "+4915112345678"]])
def test_numbers_come_separated_by_commas_or_as_a_list(numbers: object) -> None:
    settings = Settings.model_validate({"owner": {"numbers": numbers}})
    assert settings.owner.numbers == ("+15551234567", "+4915112345678")


@pytest.mark.parametrize("numbers", ["15551234567", "+1555", "call me", "+999123456789", "+15551234567;+15551234568"])
def test_a_number_nobody_can_ring_from_is_refused(numbers: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"owner": {"numbers": numbers}})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://keryx.example.org", "https://keryx.example.org"),
        ("https://keryx.example.org/", "https://keryx.example.org"),
        ("https://Keryx.Example.org:443", "https://keryx.example.org"),
        ("https://keryx.example.org:8443", "https://keryx.example.org:8443"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://localhost", "http://localhost"),
        ("", None),
    ],
)
def test_the_public_address_is_kept_as_an_origin(given: str, kept: str | None) -> None:
    assert Settings.model_validate({"server": {"public_url": given}}).server.public_url == kept


@pytest.mark.parametrize(
    "given",
    [
        "keryx.example.org",
        "http://keryx.example.org",
        "https://keryx.example.org/path",
        "https://keryx.example.org?a=1",
        "https://me:secret@keryx.example.org",
        "wss://keryx.example.org",
        "https://",
        "https://keryx.example.org:99999",
    ],
)
def test_an_address_that_is_no_https_origin_is_refused(given: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"server": {"public_url": given}})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "::1", "[::1]", "localhost", "keryx.local", "192.168.1.4"])
def test_a_host_is_an_address_or_a_name(host: str) -> None:
    assert Settings.model_validate({"server": {"host": host}}).server.host == host.strip("[]")


@pytest.mark.parametrize("host", ["", "a b", "256.1.1.1", "http://localhost", "-x"])
def test_anything_else_is_no_host(host: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"server": {"host": host}})


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Los_Angeles", "UTC"])
def test_a_time_zone_is_an_iana_name(zone: str) -> None:
    assert Settings.model_validate({"owner": {"timezone": zone}}).owner.timezone == zone


@pytest.mark.parametrize("zone", ["Mars/Olympus", "Europe", "../etc/passwd", "+02:00", ""])
def test_no_other_time_zone_is_taken(zone: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"owner": {"timezone": zone}})


def test_the_machines_zone_is_found_in_each_place_it_may_stand(tmp_path: Path) -> None:
    assert system_timezone({"TZ": ":Asia/Tokyo"}, tmp_path) == "Asia/Tokyo"
    assert system_timezone({"TZ": "nonsense"}, tmp_path) == "UTC"
    (tmp_path / "timezone").write_text("Europe/Rome\n")
    assert system_timezone({}, tmp_path) == "Europe/Rome"
    zone = tmp_path / "zoneinfo" / "Europe" / "Athens"
    zone.parent.mkdir(parents=True)
    zone.touch()
    os.symlink(zone, tmp_path / "localtime")
    assert system_timezone({}, tmp_path) == "Europe/Athens"


@pytest.mark.parametrize(
    "missing", ["owner.numbers", "owner.pin", "server.public_url", *(f"twilio.{f}" for f in LINE["twilio"])]
)
def test_a_half_configured_telephone_line_says_what_is_missing(missing: str) -> None:
    section, field = missing.split(".")
    values = {name: {key: value for key, value in table.items()} for name, table in LINE.items()}
    del values[section][field]
    with pytest.raises(ValidationError, match=f"missing: {missing}"):
        Settings.model_validate(values)


def test_a_whole_telephone_line_is_accepted_and_shows_no_secret() -> None:
    settings = Settings.model_validate(LINE)
    assert settings.telephone
    for private in ("001234", "a-token", "5551234567", "5557654321"):
        assert private not in repr(settings)


def test_no_key_of_an_agent_or_of_its_servers_stands_in_a_repr() -> None:
    settings = Settings.model_validate(
        {
            "claude": {"api_key": "key-one", "auth_token": "key-two"},
            "codex": {"api_key": "key-three"},
            "mcp": {"notes": "TOKEN=key-four notes"},
        }
    )
    assert settings.claude.auth_token == "key-two"
    assert "key-" not in repr(settings)


def test_a_program_of_the_owners_home_is_found_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert Settings.model_validate({"claude": {"program": "~/bin/claude"}}).claude.program == "/home/ada/bin/claude"
    assert Settings.model_validate({"codex": {"program": "codex-nightly"}}).codex.program == "codex-nightly"


def test_projects_are_the_child_folders_of_the_root(tmp_path: Path) -> None:
    for name in ("website", "billing", ".cache"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes.txt").touch()
    assert Settings.model_validate({"projects": {"root": str(tmp_path)}}).projects.listed() == ("billing", "website")


def test_named_projects_are_taken_as_named(tmp_path: Path) -> None:
    settings = Settings.model_validate({"projects": {"root": str(tmp_path), "names": "billing, my site"}})
    assert settings.projects.listed() == ("billing", "my site")


@pytest.mark.parametrize("name", ["../up", "a/b", ".git", ""])
def test_a_project_name_cannot_lead_out_of_the_root(name: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"projects": {"names": [name]}})


@pytest.mark.parametrize(
    ("field", "value"),
    [("port", -1), ("port", 65536), ("port", True), ("port", "http"), ("port", 80.5), ("port", None), ("host", 7)],
)
def test_a_wrong_server_value_is_refused(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"server": {field: value}})


@pytest.mark.parametrize(
    ("host", "here"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)]
)
def test_loopback_is_told_from_the_rest(host: str, here: bool) -> None:
    assert is_loopback(host) is here
