"""The storyboard dock: pinned steps side by side, to reorder and export."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.gallery.exports import ExportOrder
from spatialstudio.application.inspect.storyboard import BoardChanged, pinned
from spatialstudio.application.jobs.background_jobs import BackgroundJobEnded, BackgroundJobId
from spatialstudio.application.session import RunChanged
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.export import BOARD_FORMATS, BoardFrame
from spatialstudio.ui.framework.command import Command
from spatialstudio.ui.framework.command_button import command_button
from spatialstudio.ui.framework.confirmation import file_to_write
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.inspect import replay_commands
from spatialstudio.ui.inspect.widgets.board_tray import BoardTray, TrayFrame
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.array_images import rgb_image
from spatialstudio.ui.widgets.builders import FlowLayout, column, grow, pages
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

EMPTY = "Pin a step to add its picture, maps and PoS here."
ABOUT = "Drag or press Ctrl+arrow to reorder, Delete to remove, Enter to go to the step."
OF_FRAMES = (replay_commands.EXPORT_BOARD, replay_commands.CLEAR_BOARD)


class BoardPanel(Panel):
    """Lets the user pin steps, reorder them, and export a sheet, video, arrays or table."""

    title = "Storyboard"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        self._board = context.studio.storyboard
        self._session = context.studio.session
        self._maps = context.maps
        self._edits = context.edits
        self._toasts = context.toasts
        self._actions = context.actions
        self._writing: BackgroundJobId | None = None
        self._notes: list[str] = []
        self._tray = BoardTray()
        self._tray.order_picked.connect(self._reorder)
        self._tray.removal_asked.connect(self._remove)
        self._tray.frame_picked.connect(self._go_to)
        self._bind()
        self._lay_out()
        self._show()

    def handle(self, event: object) -> None:
        """Follow the board, whether a step can be pinned, and the export in progress."""
        match event:
            case BoardChanged():
                self._show()
            case RunChanged():
                self._actions[replay_commands.PIN_FRAME].setEnabled(True)
            case BackgroundJobEnded(job_id=job_id) if job_id == self._writing:
                self._end_export(event)

    def _bind(self) -> None:
        for command, do in (
            (replay_commands.PIN_FRAME, self._pin),
            (replay_commands.EXPORT_BOARD, self._export),
            (replay_commands.CLEAR_BOARD, lambda: self._change(tr("clear storyboard"), ())),
        ):
            self._actions.bind(command, do)
        self._actions[replay_commands.PIN_FRAME].setEnabled(self._session.run is not None)

    def _pin(self) -> None:
        run = self._session.run
        if run is None:
            return
        try:
            frame = pinned(run, self._session.step, self._maps.look.moment)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Pinning a step")))
            return
        self._change(tr("pin step"), (*self._board.frames, frame))
        if not self.isVisible():
            self._toasts.tell(
                tr("Pinned to the storyboard: {caption}.").format(caption=frame.caption)
            )

    def _reorder(self, keys: tuple[str, ...]) -> None:
        by_key = {frame.id: frame for frame in self._board.frames}
        self._change(tr("reorder storyboard"), tuple(by_key[key] for key in keys))

    def _remove(self, key: str) -> None:
        left = tuple(frame for frame in self._board.frames if frame.id != key)
        self._change(tr("remove frame"), left)

    def _change(self, name: str, frames: tuple[BoardFrame, ...]) -> None:
        self._edits.change(name, self._board.frames, frames, self._board.show)

    def _go_to(self, key: str) -> None:
        frame = next(frame for frame in self._board.frames if frame.id == key)
        run = self._session.run
        if run is not None and run.scene.prompt.text == frame.prompt:
            self._session.pick_step(min(frame.step, max(len(run.steps) - 1, 0)))

    def _export(self) -> None:
        endings = " ".join(f"*.{ending}" for ending in BOARD_FORMATS)
        kinds = f"{tr('Storyboard')} ({endings})"
        start = f"storyboard.{BOARD_FORMATS[0]}"
        name, _ = QFileDialog.getSaveFileName(self, tr("Export the storyboard"), start, kinds)
        if name and (target := file_to_write(self, Path(name), BOARD_FORMATS[0])):
            self.export_to(target)

    def export_to(self, target: Path) -> None:
        """Export the storyboard in the background; the suffix selects the format.

        An existing file is replaced; the file dialog has confirmed that.
        """
        frames = self._board.frames
        self._notes = []
        order = ExportOrder(note=self._notes.append, overwrite=True)
        storage = self._studio.storage
        is_marked = storage.marks_pictures
        self._writing = storage.background_jobs.run(
            tr("Exporting the storyboard"),
            lambda _progress: self._studio.exports.export_board(
                frames, target, order, is_marked=is_marked
            ),
        )

    def _end_export(self, event: BackgroundJobEnded) -> None:
        self._writing = None
        if event.error is not None:
            self.problem_met.emit(event.error)
        elif isinstance(event.result, Path):
            for note in self._notes:
                self._toasts.tell(note)
            self._toasts.tell(tr("Wrote {name}.").format(name=event.result.name))

    def _show(self) -> None:
        frames = self._board.frames
        self._tray.show_frames(tuple(_shown(frame) for frame in frames))
        self._pages.setCurrentIndex(1 if frames else 0)
        for command in OF_FRAMES:
            self._actions[command].setEnabled(bool(frames))

    def _lay_out(self) -> None:
        empty = TextLabel(tr(EMPTY), Tone.MUTED)
        empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages = pages(empty, self._tray)
        foot = QWidget()
        buttons = FlowLayout(em(0.4))
        foot.setLayout(buttons)
        for command in (replay_commands.PIN_FRAME, *OF_FRAMES):
            buttons.addWidget(self._button(command))
        about = TextLabel(tr(ABOUT), Tone.MUTED, small=True)
        edges = (0.9, 0.3, 0.9, 0.5)
        column(grow(self._pages), about, foot, within=self, gap=0.4, edges=edges)

    def _button(self, command: Command) -> QWidget:
        button = command_button(self._actions[command], "plain")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        return button


def _shown(frame: BoardFrame) -> TrayFrame:
    numbers = [f"{relation}: {pos:.2f}" for relation, pos in frame.pos]
    words = "\n".join([frame.caption, f"“{frame.prompt}”", *numbers])
    return TrayFrame(frame.id, rgb_image(frame.picture), frame.caption, words)
