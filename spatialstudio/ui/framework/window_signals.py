"""What one part of the window asks of another, without knowing it."""

from PySide6.QtCore import QObject, Signal

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.picture_settings import PictureSettings

PICTURES_PAGE, LANGUAGE_MODEL_PAGE = "Pictures", "Language model"
"""Titles of pages of the settings that other parts lead to."""


@frozen(kw_only=False)
class OfferedSettings:
    """What a picture tells of its making, which fields are wanted, and all of it where it is ours.

    Attributes:
        settings: What it tells.
        names: Of the wanted fields.
        request: Of one of our pictures, whole; None for those of others.
    """

    settings: PictureSettings
    names: frozenset[str]
    request: GenerationRequest | None = None


class WindowSignals(QObject):
    """Requests that any part of the window may emit and any other may handle.

    Attributes:
        prompt_offered: A prompt to take over, as text.
        seed_offered: The seed of the next picture.
        prompt_wanted: The prompt is needed as it stands now: what was just typed is read at once.
        path_offered: A run's folder or a picture to open, as ``Path``.
        model_picked: Id of the model to draw with.
        model_wanted: Id of a model that shall be drawn with from now on.
        capture_asked: How much attention the next run shall keep, as ``AttentionDetail``.
        fix_wanted: What to give up in the next pictures to save memory, as ``MemoryFix``.
        workspace_asked: Id of the workspace to show.
        settings_asked: Title of the page of the settings to open; empty for the first.
        library_moved: Runs are kept in another folder: whoever shows the library shows it anew.
        settings_offered: Settings of a picture to take over, as ``OfferedSettings``.
        extractor_chosen: Another relation extractor reads prompts from now on.
        judges_chosen: Others look at what is judged from now on.
        server_reported: What became of a language model's server, as an event of ``LanguageModel``.
    """

    prompt_offered = Signal(str)
    seed_offered = Signal(int)
    prompt_wanted = Signal()
    path_offered = Signal(object)
    model_picked = Signal(str)
    model_wanted = Signal(str)
    capture_asked = Signal(object)
    fix_wanted = Signal(object)
    workspace_asked = Signal(str)
    settings_asked = Signal(str)
    library_moved = Signal()
    settings_offered = Signal(object)
    extractor_chosen = Signal()
    judges_chosen = Signal()
    server_reported = Signal(object)
