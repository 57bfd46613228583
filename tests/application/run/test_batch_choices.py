"""A batch whose prompt has choices: every seed makes its own, which its run records."""

from queue import SimpleQueue

import pytest

from spatialstudio.application.compose.wildcards import Wildcards
from spatialstudio.application.models.model_lists import usual_settings
from spatialstudio.application.session import RunStored
from spatialstudio.domain.run_settings import with_values

TEMPLATE = "a {red|blue|green} __animal__ to the left of a car"
SEEDS = range(7, 15)


@pytest.fixture
def studio(studio):
    """The studio with a prompt of choices and a wildcard."""
    folder = studio.paths.settings / "wildcards"
    folder.mkdir(parents=True)
    (folder / "animal.txt").write_text("dog\ncat\n", encoding="utf-8")
    studio.use_prompt(TEMPLATE)
    return studio


@pytest.fixture
def settings(studio):
    return with_values(usual_settings(studio.model()), seed=SEEDS[0], pictures=len(SEEDS))


def test_every_seed_of_a_batch_makes_its_own_choices(studio, settings):
    requests = studio.requests(settings)
    prompts = [request.scene.prompt for request in requests]
    wildcards = Wildcards(studio.paths.settings / "wildcards")
    assert [request.sampling.seed for request in requests] == list(SEEDS)
    assert [prompt.text for prompt in prompts] == [
        wildcards.resolved(TEMPLATE, seed).text for seed in SEEDS
    ]
    assert len({prompt.text for prompt in prompts}) > 2
    assert {prompt.template for prompt in prompts} == {TEMPLATE}
    heads = [request.scene.mentions[0].head for request in requests]
    assert heads == [prompt.text.split()[2] for prompt in prompts]
    assert [each.scene for each in studio.requests(settings)] == [each.scene for each in requests]


def test_a_run_is_repeated_with_its_recorded_choices(studio, engine, settings):
    stored = SimpleQueue()
    studio.bus.subscribe(lambda event: isinstance(event, RunStored) and stored.put(event.path))
    request = studio.requests(settings)[3]
    studio.generate(request)
    engine.play(engine.jobs.pop())
    path = stored.get(timeout=20)
    (studio.paths.settings / "wildcards" / "animal.txt").write_text("fox\n", encoding="utf-8")
    studio.run_again(path)
    assert engine.jobs.pop().request.scene == request.scene
