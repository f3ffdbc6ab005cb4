"""What is asked for, for what is wanted; and what works with what was granted."""

import pytest

from keryx.workspace.features import GRANTS, Feature, features_of, scopes_of

SCOPE = "https://www.googleapis.com/auth/"


def names(features: set[Feature]) -> list[str]:
    return [scope.removeprefix(SCOPE) for scope in scopes_of(features)]


@pytest.mark.parametrize(
    ("wanted", "asked"),
    [
        ({Feature.READ_MAIL}, ["gmail.readonly"]),
        ({Feature.WRITE_MAIL}, ["gmail.compose"]),
        ({Feature.READ_MAIL, Feature.WRITE_MAIL}, ["gmail.readonly", "gmail.compose"]),
        ({Feature.READ_MAIL, Feature.SORT_MAIL}, ["gmail.modify"]),
        ({Feature.CHANGE_CALENDAR}, ["calendar.events"]),
        (
            {Feature.READ_CALENDAR},
            ["calendar.events.readonly", "calendar.calendarlist.readonly", "calendar.freebusy"],
        ),
        (
            set(Feature),
            ["gmail.modify", "calendar.calendarlist.readonly", "calendar.freebusy", "calendar.events"],
        ),
        (set(), []),
    ],
)
def test_no_more_is_asked_for_than_is_needed(wanted: set[Feature], asked: list[str]) -> None:
    assert names(wanted) == asked


@pytest.mark.parametrize("feature", Feature)
def test_what_is_asked_for_a_feature_is_enough_for_it(feature: Feature) -> None:
    assert feature in features_of(scopes_of({feature}))


@pytest.mark.parametrize("feature", Feature)
def test_everything_but_one_thing_grants_no_more_than_that(feature: Feature) -> None:
    rest = frozenset(Feature) - {feature}
    contained = {Feature.READ_MAIL, Feature.WRITE_MAIL} if Feature.SORT_MAIL in rest else set()
    assert features_of(scopes_of(rest)) == rest | contained


def test_a_calendar_of_which_one_part_was_unticked_is_not_said_to_be_readable() -> None:
    unticked = f"{SCOPE}calendar.freebusy"
    granted = [scope for scope in scopes_of(Feature) if scope != unticked]
    assert features_of(granted) == frozenset(Feature) - {Feature.READ_CALENDAR}


def test_scopes_of_nobody_s_asking_grant_nothing() -> None:
    assert features_of(["openid", f"{SCOPE}userinfo.email", f"{SCOPE}drive"]) == frozenset()


def test_every_feature_is_said_in_words() -> None:
    assert GRANTS.keys() == set(Feature)
    for grant in GRANTS.values():
        assert grant.words == grant.words.strip(" .")
        assert grant.words[0].islower()
        assert "scope" not in grant.words
