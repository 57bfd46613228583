"""Store the sample run that shows that files of schema 1 can still be read.

    python -m tests.golden.store_run_of_schema_1

Draws two steps with the embedded model and keeps one preview, so that the sample stays small.
Never run it again once the schema has risen: the sample must stay what the first version wrote.
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from spatialstudio.application.session import RunStored
from spatialstudio.application.studio import Studio
from spatialstudio.domain.generation import CaptureSettings

PROMPT = "a photo of a dog to the left of a car"
TARGET = Path(__file__).with_name("run_of_schema_1")
CAPTURE = CaptureSettings(attention_every=1, preview_every=2)


def main() -> None:
    with TemporaryDirectory(dir=TARGET.parent) as folder:
        studio = Studio.open("inline", runs_folder=Path(folder))
        studio.start()
        stored = []
        studio.bus.subscribe(stored.append)
        studio.use_scene(studio.parse_for_model(PROMPT))
        studio.generate(replace(studio.new_request(seed=7, steps=2), capture=CAPTURE))
        studio.close()
        (event,) = (event for event in stored if isinstance(event, RunStored))
        event.path.parent.rename(TARGET)


if __name__ == "__main__":
    main()
