import pytest

from spatialstudio.ui.compose.prompt_panel import MOST_PROMPTS, PromptHistory


@pytest.fixture
def history(settings):
    history = PromptHistory(settings)
    for text in ("a cat", "a dog", "a car"):
        history.remember(text)
    return history


def test_one_goes_back_through_what_was_drawn(history):
    assert history.step(1, "a bird") == "a car"
    assert history.step(1, "a car") == "a dog"


def test_one_comes_forward_to_what_was_being_written(history):
    history.step(1, "a bird")
    assert history.step(-1, "a car") == "a bird"
    assert history.step(-1, "a bird") is None


def test_the_oldest_is_the_end(history):
    for now in ("a bird", "a car", "a dog"):
        history.step(1, now)
    assert history.step(1, "a cat") is None


def test_existing_results_are_skipped(history):
    assert history.step(1, "a car") == "a dog"


def test_a_prompt_that_was_written_on_is_a_new_beginning(history):
    history.step(1, "a bird")
    history.step(1, "a car")
    assert history.step(1, "a dog and more") == "a car"


def test_a_prompt_is_kept_once_and_the_newest_last(history, settings):
    history.remember("a cat")
    assert settings.earlier_prompts == ("a dog", "a car", "a cat")


def test_a_running_job_does_not_block_going_back(history):
    history.step(1, "a bird")
    history.step(1, "a car")
    history.remember("a car")
    assert history.step(1, "a dog") == "a cat"


def test_only_so_many_are_kept(history, settings):
    for number in range(MOST_PROMPTS):
        history.remember(f"{number} cats")
    assert len(settings.earlier_prompts) == MOST_PROMPTS
    assert settings.earlier_prompts[0] == "0 cats"


def test_nothing_drawn_is_nothing_to_go_back_to(settings):
    assert PromptHistory(settings).step(1, "a cat") is None
