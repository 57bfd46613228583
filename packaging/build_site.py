"""Build the guide as a web site.

    pip install ".[docs]"
    python3 packaging/build_site.py [FOLDER]

Copies `resources/guide` with its pictures, adds the API reference from the docstrings, and runs
mkdocs with the Material theme in strict mode: a broken link fails the build.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESOURCES = ROOT / "resources"
SITE = ROOT / "site"
MODULES = ("spatialstudio.api", "spatialstudio.plugin_api")
CONFIGURATION = """
site_name: Spatial Studio
docs_dir: {docs}
site_dir: {site}
use_directory_urls: false
theme:
  name: material
  font: false
markdown_extensions:
  - tables
  - pymdownx.highlight
  - pymdownx.superfences
plugins:
  - search
  - mkdocstrings:
      handlers:
        python:
          paths: ["{root}"]
          options:
            docstring_style: google
            show_source: false
nav:
  - Tour: guide/index.md
  - Concepts: guide/concepts.md
  - Panels: guide/panels.md
  - Commands: guide/commands.md
  - Terminal: guide/terminal.md
  - Figures for papers: guide/figures.md
  - Benchmarks: guide/benchmarks.md
  - Benchmarks on several machines: guide/cluster.md
  - Python API: guide/api.md
  - API reference: guide/reference.md
  - File formats: guide/formats.md
  - Plugins: guide/plugins.md
  - Methods: guide/methods.md
  - Third-party notices: licenses/index.md
"""


def main(arguments: list[str]) -> int:
    """Build the guide and return the exit code."""
    site = Path(arguments[0]) if arguments else SITE
    with tempfile.TemporaryDirectory(prefix="spatialstudio-site-") as folder:
        configuration = prepare(Path(folder), site.resolve())
        command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
        return subprocess.run(
            [*command, "--config-file", str(configuration)], check=False
        ).returncode


def prepare(folder: Path, site: Path) -> Path:
    """Copy the pages to an empty folder, add the API reference, return mkdocs' configuration."""
    docs = folder / "docs"
    for part in ("guide", "licenses", "samples"):
        shutil.copytree(RESOURCES / part, docs / part)
    (docs / "guide" / "reference.md").write_text(reference(), encoding="utf-8")
    (docs / "index.md").write_text(START, encoding="utf-8")
    configuration = folder / "mkdocs.yml"
    text = CONFIGURATION.format(docs=docs, site=site, root=ROOT)
    configuration.write_text(text, encoding="utf-8")
    return configuration


START = '<meta http-equiv="refresh" content="0; url=guide/index.html">\n'


def reference() -> str:
    """Return the API reference page of the public modules."""
    files = {name: ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in MODULES}
    parts = [f"::: {name}" for name, file in files.items() if file.is_file()]
    return "\n\n".join(("# API reference", *parts)) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
