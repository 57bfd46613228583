import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BEHIND,
    BELOW,
    BELOW_LEFT_OF,
    BETWEEN,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
)
from tests.adapters.prompts.readings import claims, read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a dog between two cats", [("dog", BETWEEN, "two cats", "two cats")]),
        ("two sheep next to each other", [("two sheep", NEAR, "two sheep")]),
        ("a gate with a lion on either side of it", [("gate", BETWEEN, "lion", "lion")]),
        ("a table with chairs on both sides", [("table", BETWEEN, "chairs", "chairs")]),
        (
            "three apples on a table, a cup near them",
            [
                ("three apples", ABOVE, "table"),
                ("cup", NEAR, "three apples"),
            ],
        ),
        ("the keeper's dog beside a stove", [("keeper's dog", NEAR, "stove")]),
        ("a cup was put on a shelf by a man", [("cup", ABOVE, "shelf")]),
        ("a dog with a cat far behind him", [("cat", BEHIND, "dog")]),
        (
            "a man next to a lamp with a cat behind him",
            [
                ("man", NEAR, "lamp"),
                ("cat", BEHIND, "man"),
            ],
        ),
        ("a man looks at a dog lying under a table", [("dog", BELOW, "table")]),
        (
            "a dog behind a fence barks at a cat on a car",
            [
                ("dog", BEHIND, "fence"),
                ("cat", ABOVE, "car"),
            ],
        ),
        ("Picture a cat above a dog", [("cat", ABOVE, "dog")]),
        ("a kitchen where a lamp is above a table", [("lamp", ABOVE, "table")]),
        ("next to the house you can see a tree", [("tree", NEAR, "house")]),
        ("to the left we see a cat, to the right a dog", [("cat", LEFT_OF, "dog")]),
        ("left side: a cat, right side: a dog", [("cat", LEFT_OF, "dog")]),
        ("bottom left: a cat; top right: a dog", [("cat", BELOW_LEFT_OF, "dog")]),
        ("a cat in the background with a dog in the foreground", [("cat", BEHIND, "dog")]),
        (
            "a cat left of a dog and a bird on the right",
            [
                ("cat", LEFT_OF, "dog"),
                ("bird", RIGHT_OF, "dog"),
            ],
        ),
        ("a ball has been left below a hoop", [("ball", BELOW, "hoop")]),
        ("a well at the front of a cabin", [("well", IN_FRONT_OF, "cabin")]),
        ("a watering can left of a spade", [("watering can", LEFT_OF, "spade")]),
        ("a photograph shows a cat under a sheet of paper", [("cat", BELOW, "sheet of paper")]),
        (
            "a table next to a window, and a vase on it",
            [("table", NEAR, "window"), ("vase", ABOVE, "table")],
        ),
        ("two mugs, one left of the other", [("one", LEFT_OF, "the other")]),
        ("on a shelf, behind a cup, is a dog", [("dog", ABOVE, "shelf"), ("dog", BEHIND, "cup")]),
        ("a bridge under which a boat passes", [("boat", BELOW, "bridge")]),
        ("a man watches a bird on a branch", [("bird", ABOVE, "branch")]),
        ("kids are building a castle behind a bench", [("kids", BEHIND, "bench")]),
        ("two houses far apart", [("two houses", FAR_FROM, "two houses")]),
        ("a cat, above, a dog", [("cat", ABOVE, "dog")]),
        (
            "a cat and a dog sit on a sofa. The former is left of the latter.",
            [("cat", ABOVE, "sofa"), ("dog", ABOVE, "sofa"), ("cat", LEFT_OF, "dog")],
        ),
        (
            "a lamp behind a chair; the latter is next to a table",
            [("lamp", BEHIND, "chair"), ("chair", NEAR, "table")],
        ),
        (
            "a cat, a dog, a bird, lined up from left to right",
            [("cat", LEFT_OF, "dog"), ("dog", LEFT_OF, "bird")],
        ),
        ("From right to left they are: a cat, a dog.", [("cat", RIGHT_OF, "dog")]),
        (
            "a cat left of, and behind, a dog",
            [("cat", LEFT_OF, "dog"), ("cat", BEHIND, "dog")],
        ),
        ("There is a shelf, and a broom stands left of it.", [("broom", LEFT_OF, "shelf")]),
        (
            "a cat below the mast that is also above the mast",
            [("cat", BELOW, "mast"), ("cat", ABOVE, "mast")],
        ),
        ("a cat on a mat, and it's smiling", [("cat", ABOVE, "mat")]),
        ("hang the pans above your stove and cook like a pro", [("pans", ABOVE, "stove")]),
        ("Would you mind painting a cat above a dog?", [("cat", ABOVE, "dog")]),
        ("Why don't you paint a dog behind a ram?", [("dog", BEHIND, "ram")]),
        ("How would a cat look on a dog?", [("cat", ABOVE, "dog")]),
        ("two cats, and a medal stand is behind them", [("medal stand", BEHIND, "two cats")]),
        ("A few lambs rest beside the troughs.", [("few lambs", NEAR, "troughs")]),
        ("A bidder sails near a drover", [("bidder", NEAR, "drover")]),
        ("a gull on a trivet", [("gull", ABOVE, "trivet")]),
        ("a spy on a mission", []),
        ("a newlywed under an enormous bloodshed", [("newlywed", BELOW, "enormous bloodshed")]),
        ("a girl walks past a trivet that is near a cup", [("trivet", NEAR, "cup")]),
        (
            "a cat behind a chair, the same chair above a dog",
            [
                ("cat", BEHIND, "chair"),
                ("chair", ABOVE, "dog"),
            ],
        ),
        ("the tray that a doctor placed on a cabinet", [("tray", ABOVE, "cabinet")]),
        (
            "There is a lime. There is a pear. The first is above the second.",
            [
                ("lime", ABOVE, "pear"),
            ],
        ),
        (
            "a cat under a bridge, and next to that bridge stands a dog",
            [
                ("cat", BELOW, "bridge"),
                ("dog", NEAR, "bridge"),
            ],
        ),
        ("Photo showing a cat and, right of it, a dog.", [("dog", RIGHT_OF, "cat")]),
        ("a nymph to whose left an owl is sitting", [("owl", LEFT_OF, "nymph")]),
        ("an elf behind whom a bear is dancing", [("bear", BEHIND, "elf")]),
        (
            "First from the left comes a cat, then a dog, then a cow.",
            [
                ("cat", LEFT_OF, "dog"),
                ("dog", LEFT_OF, "cow"),
            ],
        ),
        ("From the top down: a cat, a dog.", [("cat", ABOVE, "dog")]),
        ("A cat occupies the bottom and a dog occupies the top.", [("cat", BELOW, "dog")]),
        ("a dog is behind a van because he is shy", [("dog", BEHIND, "van")]),
        ("Let a gnome stand beneath a sign.", [("gnome", BELOW, "sign")]),
        ("Wheel the medal stand next to the bed.", [("medal stand", NEAR, "bed")]),
        ("We won't hang the lamp over the stage.", []),
        ("Please avoid placing the mug on the bed.", []),
        ("The wizard is beside himself with joy.", []),
        ("a dog stared, for behind a van there was a cat", [("cat", BEHIND, "van")]),
        ("A syringe without a label next to a cup", [("syringe", NEAR, "cup")]),
        ("a room without a lamp over the desk", []),
        ("A house on fire and a dog in front of it", [("dog", IN_FRONT_OF, "house")]),
        ("By the way, the king is behind the rook.", [("king", BEHIND, "rook")]),
        ("a nurse who refuses to stand behind the sink", []),
        ("He saw an oasis beneath a cliff", [("oasis", BELOW, "cliff")]),
        (
            "Above the tower fly a blimp and a kite.",
            [
                ("blimp", ABOVE, "tower"),
                ("kite", ABOVE, "tower"),
            ],
        ),
        ("a barn nowhere near a pond", [("barn", FAR_FROM, "pond")]),
    ],
)
def test_a_clause_is_read(text, expected):
    assert claims(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the actor is between engagements",
        "a minister under suspicion reads a letter",
        "two lawyers argue over a contract",
        "the library is over four hundred years old",
        "she was born between 1900 and 1910",
        "a postman left his village by train",
        "a duel between a samurai and a robot",
        "the widow is beside herself with grief",
        "a soup on a cold morning",
    ],
    ids=["abstract", "idiom", "particle", "amount", "years", "means", "parties", "self", "time"],
)
def test_non_spatial_prepositions_claim_nothing(text):
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a man in love beside a lamp", [("man", NEAR, "lamp")]),
        ("a stranger waited by the drawbridge", [("stranger", NEAR, "drawbridge")]),
        ("a balloon over the hill", [("balloon", ABOVE, "hill")]),
        ("a mug next to the opera program", [("mug", NEAR, "opera program")]),
        ("a nest at the bottom and, at the top, a cloud", [("nest", BELOW, "cloud")]),
    ],
)
def test_similar_spatial_prepositions_claim_a_relation(text, expected):
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat left of dog, dog left of cat", [("cat", LEFT_OF, "dog"), ("dog", LEFT_OF, "cat")]),
        ("cat left of cat", [("cat", LEFT_OF, "cat")]),
        ("leftover cake left of a cup", [("leftover cake", LEFT_OF, "cup")]),
        ("a phone face down on the desk", [("phone", ABOVE, "desk")]),
        ("top left a house, bottom right a boat", [("house", ABOVE_LEFT_OF, "boat")]),
        (
            "under the umbrella, a couple; next to them, a dog",
            [("couple", BELOW, "umbrella"), ("dog", NEAR, "couple")],
        ),
        (
            "a plate with a mouse to the left and a cheese to the right",
            [("mouse", LEFT_OF, "plate"), ("cheese", RIGHT_OF, "plate")],
        ),
        ("a plane flies over a city", [("plane", ABOVE, "city")]),
        ("a hores left of a cow", [("hores", LEFT_OF, "cow")]),
        (
            "a cat on the left, a dog in the middle, a cow on the right",
            [("cat", LEFT_OF, "dog"), ("dog", LEFT_OF, "cow")],
        ),
        ("The foreground has a cup and the background a tree.", [("cup", IN_FRONT_OF, "tree")]),
        ("I don't want the cup behind the fan; put it under the fan.", [("cup", BELOW, "fan")]),
        ("Make sure the cat ends up left of the dog.", [("cat", LEFT_OF, "dog")]),
    ],
)
def test_an_informal_sentence_is_read(text, expected):
    assert claims(text) == expected


def test_repeated_bare_names_are_the_same_objects():
    def count(text):
        return len(read(text).mentions)

    assert count("cat left of dog, dog left of cat") == 2
    assert count("red cat left of blue cat, blue cat above dog") == 3
    assert count("a cat left of a dog, a dog left of a cat") == 4
    assert count("cat left of cat") == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a cat or a dog left of a lamp", "cat or a dog"),
        ("either a cat or a dog sits on a sofa", "cat or a dog"),
        ("a cat left of a dog or a lamp", "dog or a lamp"),
        ("a cat left of or right of a dog", "left of or right of"),
        ("a cat left or right of a dog", "left or right of"),
        ("a red or blue cat left of a dog", "or"),
        ("a cat opposite a dog", "opposite"),
        ("a cat to the left of a dog above", "above"),
        ("hello my friend, a cat left of a dog", "hello"),
    ],
)
def test_unread_words_are_reported_with_their_position(text, words):
    notes = [note for note in read(text).notes if note.span]
    assert [note.message for note in notes] == [f'I do not understand "{words}".']
    assert notes[0].span.of(text) == words


@pytest.mark.parametrize("text", ["a cat or a dog left of a lamp", "a cat left or right of a dog"])
def test_alternatives_are_not_guessed(text):
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The stove has a chair on one side and a bin on the other.",
            [("stove", BETWEEN, "chair", "bin")],
        ),
        (
            "With a fir on one side and an oak on the other stands a hut.",
            [("hut", BETWEEN, "fir", "oak")],
        ),
        ("a goat and a lamp, a cup above both", [("cup", ABOVE, "goat"), ("cup", ABOVE, "lamp")]),
        ("The nun paused; behind her stood the mayor.", [("mayor", BEHIND, "nun")]),
        ("Behind the cup somebody has forgotten a fan.", [("fan", BEHIND, "cup")]),
        ("behind a stump we discovered a newt", [("newt", BEHIND, "stump")]),
        ("What is under the bed? A cat!", [("cat", BELOW, "bed")]),
        (
            "In order from right to left: turmeric, chilli.",
            [("turmeric", RIGHT_OF, "chilli")],
        ),
        ("Left to right on a beach: a cup, a fan.", [("cup", LEFT_OF, "fan")]),
        ("A drum, a flute just below.", [("flute", BELOW, "drum")]),
        ("Crabs scuttle beneath the jetty.", [("Crabs", BELOW, "jetty")]),
        ("clouds heavy over the mill", [("clouds", ABOVE, "mill")]),
        ("The stag that the hunters saw was behind a tent.", [("stag", BEHIND, "tent")]),
        ("A nun plants herself in front of a bus.", [("nun", IN_FRONT_OF, "bus")]),
        ("Take a cup and a fan; put a toy above the former.", [("toy", ABOVE, "cup")]),
        ("sun top left, surfer bottom right", [("sun", ABOVE_LEFT_OF, "surfer")]),
        ("There aren't any apples on the board.", []),
        ("It is wrong to say that the cat is behind the wave.", []),
        ("The vet looked over the sick calf.", []),
        ("A triangle drawn in chalk by a teacher.", []),
    ],
)
def test_a_sentence_with_unknown_words_is_read(text, expected):
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("On the mayor's left is a globe.", [("globe", LEFT_OF, "mayor")]),
        ("a nurse on the old patient's right", [("nurse", RIGHT_OF, "old patient")]),
        ("cup on plate fan behind plate", [("cup", ABOVE, "plate"), ("fan", BEHIND, "plate")]),
        (
            "a mime left of a booth that's left of a bin",
            [("mime", LEFT_OF, "booth"), ("booth", LEFT_OF, "bin")],
        ),
        ("angel top, devil bottom", [("angel", ABOVE, "devil")]),
        ("Left panel a bagel, right panel a fan.", [("bagel", LEFT_OF, "fan")]),
        ("It is left of the ship that the robot floats.", [("robot", LEFT_OF, "ship")]),
        ("a cat frm a van, far frm a dog", [("cat", FAR_FROM, "dog")]),
        ("a piano w/ a candle on it", [("candle", ABOVE, "piano")]),
        ("Which plant is behind the bin? The fuchsia.", [("fuchsia", BEHIND, "bin")]),
        ("You won't miss the ship above the crater.", [("ship", ABOVE, "crater")]),
        ("The sample was put beside the cup.", [("sample", NEAR, "cup")]),
        ("Four candle snuffers above a bed.", [("Four candle snuffers", ABOVE, "bed")]),
        ("Skip the bee above the rose.", []),
        ("By no means place the cup next to the fan.", []),
    ],
)
def test_prompts_of_other_users_are_read(text, expected):
    assert claims(text) == expected
