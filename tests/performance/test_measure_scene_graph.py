from tests.performance.measure_scene_graph import separated


def test_rendered_scenes_score_higher_for_their_own_prompt_than_for_its_reverse():
    assert separated(5) == (15, 15)
