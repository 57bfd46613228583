"""Which models look at pictures: the options that choose them."""

import argparse

from spatialstudio.application.judge_choice import STICKER_DETECTOR_ID, JudgeChoice


def add_judge_options(parser: argparse.ArgumentParser) -> None:
    """Let a command's user choose who looks."""
    group = parser.add_argument_group(
        "who looks", "Names of models on this machine, as doctor lists them, or model folders."
    )
    group.add_argument(
        "--detector",
        metavar="MODEL",
        help=f"finds things (default: {STICKER_DETECTOR_ID} for pictures that a sticker model "
        "drew, by the record in them; none for others)",
    )
    group.add_argument(
        "--second-detector", metavar="MODEL", help="is asked as well, for the checker's agreement"
    )
    group.add_argument(
        "--segmenter", metavar="MODEL", help="draws masks where the detector draws none, for PSE"
    )
    group.add_argument(
        "--depth",
        metavar="MODEL",
        help="says what is in front; only stickers have one by default",
    )
    group.add_argument(
        "--cut",
        metavar="SCORE",
        type=float,
        help="score from which the detector's finds count; its makers' own by default",
    )


def judge_choice(options: argparse.Namespace) -> JudgeChoice:
    """Return what was chosen.

    Raises:
        SettingsError: A number is out of its range.
    """
    return JudgeChoice(
        detector_id=options.detector,
        second_id=options.second_detector,
        segmenter_id=options.segmenter,
        depth_id=options.depth,
        cut=options.cut,
    )
