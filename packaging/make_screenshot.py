"""Take the README's picture of the window anew: the main job, done offscreen by the demo.

.venv/bin/python packaging/make_screenshot.py
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).resolve().parent.parent / "resources/samples/readme/window.png"
WINDOW_SIZE = "1440x900"


def main() -> int:
    """Run the demo and keep its screenshot; return the demo's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        demo = [sys.executable, "-m", "spatialstudio.ui.demo", "--out", folder]
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        done = subprocess.run([*demo, "--size", WINDOW_SIZE], env=environment, check=False)
        if done.returncode == 0:
            PICTURE.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(folder, "screenshot.png"), PICTURE)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
