"""Time single pictures, guided and not, after one that warms up.

    python -m tests.performance.time_pictures [--pictures N] [--steps N]

The embedded model, in this process, with the threads that PyTorch chooses. Guided and unguided
pictures take turns, so that both meet the same machine. Prints the median and the ends of the
middle half of the wall time, and of the time that all cores spent.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from tests.performance.prompt_lists import spatialbench_prompts
from tests.performance.studio_pictures import METHODS, Wanted, draw, show


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=20, help="of each kind")
    parser.add_argument("--steps", type=int, default=25)
    options = parser.parse_args()
    wanted = [
        Wanted(prompt=prompt, seed=0, method=method)
        for prompt in spatialbench_prompts()[: options.pictures + 1]
        for method in METHODS
    ]
    times: dict[str, list[tuple[float, float]]] = {method: [] for method in METHODS}
    with tempfile.TemporaryDirectory() as folder:
        spent = time.process_time()
        for drawn in draw(wanted, Path(folder), steps=options.steps):
            now = time.process_time()
            times[drawn.wanted.method].append((drawn.seconds, now - spent))
            spent = now
    show(f"{torch.get_num_threads()} threads; seconds: median [middle half]")
    for method, pairs in times.items():
        wall, cores = np.array(pairs[1:]).T
        show(f"{method:5} drawing {in_words(wall)}; cores, judging included {in_words(cores)}")
    return 0


def in_words(seconds: np.ndarray) -> str:
    low, middle, high = np.percentile(seconds, [25, 50, 75])
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    sys.exit(main())
