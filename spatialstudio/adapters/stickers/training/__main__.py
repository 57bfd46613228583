"""Trains single stages, for developers: ``python -m spatialstudio.adapters.stickers segmenter``.

Stages that do not need each other may run side by side, each with its share of the cores.
"""

import argparse
import logging
from pathlib import Path

import torch

from spatialstudio.adapters.stickers.training.train import PRESETS, StickerTraining

STAGES = ("autoencoder", "generator", "segmenter", "depth_net")

log = logging.getLogger("spatialstudio.stickers")


def main() -> None:
    """Train the stages named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="+", choices=STAGES)
    parser.add_argument("--work-folder", type=Path, required=True)
    parser.add_argument("--preset", choices=tuple(PRESETS), default="full")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(arguments.threads)
    training = StickerTraining(
        PRESETS[arguments.preset], arguments.work_folder, lambda line: log.info("%s", line)
    )
    for stage in arguments.stages:
        getattr(training, stage)


if __name__ == "__main__":
    main()
