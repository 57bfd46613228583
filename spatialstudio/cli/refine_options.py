"""Options of the command ``refine``."""

import argparse

from spatialstudio.application.plugins import adapter_ids
from spatialstudio.cli.options import one_of, words_of
from spatialstudio.domain.refinement import REFINE_RECOMMENDED, UpdateOrder


def add_refine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the loop."""
    parser.epilog = (
        "Pass the picture of a stored run instead of a prompt to refine it, or to continue its "
        "refinement after an interruption. Every round is stored as a run with the same seed."
    )
    group = parser.add_argument_group(
        "refinement", "Evaluate-and-Refine of Singh and Zheng 2023, arXiv:2307.04749."
    )
    group.add_argument(
        "--rounds",
        type=int,
        metavar="N",
        help=f"maximum number of pictures (default: {REFINE_RECOMMENDED.rounds})",
    )
    group.add_argument(
        "--rule",
        type=one_of(UpdateOrder),
        metavar="RULE",
        help=f"whose weight rises: {words_of(UpdateOrder)}; the first below 0.75 in the prompt's "
        "order, or the lowest score (default: lowest, as in the paper)",
    )
    group.add_argument(
        "--published",
        action="store_true",
        help="as in the authors' code, with its faults: rule first, weights from 1.21, the prompt "
        "joined from its parts, coefficients in the order of sorted tokens",
    )
    group.add_argument(
        "--no-weights", action="store_true", help="do not weight the words of assertions"
    )
    group.add_argument(
        "--no-attention", action="store_true", help="do not guide the attention to objects"
    )
    group.add_argument(
        "--assertions",
        choices=adapter_ids("assertion_reader"),
        help="assertion reader (default: the objects and relations of the scene)",
    )
    group.add_argument(
        "--restart", action="store_true", help="begin again instead of continuing a refinement"
    )
    group.add_argument(
        "--replay",
        action="store_true",
        help="draw nothing: print what the rules decide on the stored attempts, for example with "
        "--da-set temperature=2",
    )
