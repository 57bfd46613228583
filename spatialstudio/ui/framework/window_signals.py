"""Signals between parts of the window that do not know each other."""

from PySide6.QtCore import QObject, Signal

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.picture_settings import PictureSettings

PICTURES_PAGE, LANGUAGE_MODEL_PAGE = "Pictures", "Language model"
"""Titles of settings pages that other parts open."""


@frozen(kw_only=False)
class OfferedSettings:
    """Settings read from a picture, the fields to apply, and the full request of a stored run.

    Attributes:
        settings: Settings read from the picture.
        names: Names of the fields to apply.
        request: Full request of a Spatial Studio picture; None for pictures of other programs.
    """

    settings: PictureSettings
    names: frozenset[str]
    request: GenerationRequest | None = None


class WindowSignals(QObject):
    """Requests that any part of the window may emit and any other may handle.

    Attributes:
        prompt_offered: A prompt to use, as text.
        spots_offered: Positions of the current prompt's objects in text order, as a tuple of
            ``Spot``, and whether the picture should have the objects there.
        settings_changed: The settings of the next picture changed, as ``RunSettings``.
        seed_offered: The seed of the next picture.
        prompt_wanted: Parse the prompt's pending text now.
        path_offered: A run's folder or a picture to open, as ``Path``.
        model_picked: Id of the model for the next picture.
        model_wanted: Id of the model to select from now on.
        capture_asked: How much attention the next run captures, as ``AttentionDetail``.
        self_attention_asked: The next run captures self-attention.
        guidance_layers_asked: Names of the layers that guide the next run; empty for the family's.
        fix_wanted: A setting to change in the next pictures to save memory, as ``MemoryFix``.
        workspace_asked: Id of the workspace to show.
        settings_asked: Title of the settings page to open; empty for the first.
        cell_asked: Number of a cell of the open benchmark whose picture to open.
        cells_asked: A filter line for the cells of the open benchmark.
        library_moved: The library folder changed; views of the library reload.
        settings_offered: Settings of a picture to apply, as ``OfferedSettings``.
        extractor_chosen: The relation extractor for prompts changed.
        judges_chosen: The judge set or the checker's preset changed.
        preset_saved: Name of a preset of the checker that was saved.
        models_asked: Show the Models page with these models, a tuple of repositories, only.
        server_reported: State of a language model's server, as an event of ``LanguageModel``.
        models_reported: State of downloads and models, as an event of ``Downloads``.
    """

    prompt_offered = Signal(str)
    spots_offered = Signal(object, bool)
    settings_changed = Signal(object)
    seed_offered = Signal(int)
    prompt_wanted = Signal()
    path_offered = Signal(object)
    model_picked = Signal(str)
    model_wanted = Signal(str)
    capture_asked = Signal(object)
    self_attention_asked = Signal()
    guidance_layers_asked = Signal(object)
    fix_wanted = Signal(object)
    workspace_asked = Signal(str)
    settings_asked = Signal(str)
    cell_asked = Signal(int)
    cells_asked = Signal(str)
    library_moved = Signal()
    settings_offered = Signal(object)
    extractor_chosen = Signal()
    judges_chosen = Signal()
    preset_saved = Signal(str)
    models_asked = Signal(object)
    server_reported = Signal(object)
    models_reported = Signal(object)
