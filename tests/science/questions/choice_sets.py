"""Hand-made question sets in the form of SpatialGenEval; none is from its data."""

from spatialstudio.science.questions.spatialgeneval import read_set

KEYS = "CBDACCBCBA"


def line(number=1, keys=KEYS, **changed):
    """One line of the data, with four options and None."""
    questions = [
        f"Where is thing {place}? Options: A: left, far, B: right, C: on top of all, D: below, "
        "E: None"
        for place in range(10)
    ]
    row = {
        "id": f"{number:06}",
        "scene": "Library",
        "prompt": "a prompt",
        "question_type": [],
        "questions": questions,
        "answers": list(keys),
    }
    return {**row, **changed}


def questions(number=1, **changed):
    return read_set(line(number, **changed))


def message(letters=KEYS, form="{}: as seen"):
    return "\n".join(form.format(letter) for letter in letters)
