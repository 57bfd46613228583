"""Biases of the answers of a run, and biases and defects of its questions."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from spatialstudio.domain.multiple_choice import LETTERS, AnswerBiases
from spatialstudio.ui.widgets.builders import column, grow
from spatialstudio.ui.widgets.row_table import RowTable
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr


class QuestionBiases(QWidget):
    """Shows letters and keys, answerers that do not look, and the defects of the data."""

    def __init__(self) -> None:
        super().__init__()
        self._state = TextLabel(tone=Tone.MUTED, small=True)
        self._letters = RowTable(
            tr("Letters of keys and answers"),
            (tr("Letter"), tr("Key"), tr("Key as asked"), tr("Chosen"), tr("Right")),
        )
        self._blind = RowTable(
            tr("Accuracy without the picture"),
            (tr("Blind"), tr("Listed"), tr("Voted"), tr("Shuffled"), tr("Voted")),
        )
        self._defects = RowTable(
            tr("Defects of the questions"), (tr("Picture"), tr("Question"), tr("Defect"))
        )
        self._tables = (self._letters, self._blind, self._defects)
        column(self._state, *map(grow, self._tables), within=self, gap=0.6)
        self.show_state(tr("Open the answers of a run."))

    def show_state(self, text: str) -> None:
        """Show a text, and no report."""
        self._state.setText(text)
        for table in self._tables:
            table.hide()

    def show_report(
        self, biases: AnswerBiases, data: Mapping[str, Any], *, leaves_out_defects: bool
    ) -> None:
        """Show a report.

        Args:
            biases: Of the answers.
            data: The questions, as ``data_report`` of the application returns it.
            leaves_out_defects: Whether questions with a defect do not count.
        """
        defects = data["defects"]
        self._state.setText(
            "\n".join((_answers_in_words(biases), _data_in_words(data, leaves_out_defects)))
        )
        self._letters.show_rows(
            [
                (
                    letter,
                    _percent(data["keys"][letter]),
                    _percent(biases.keys[letter]),
                    _percent(biases.chosen[letter]),
                    _percent(biases.right_by_key.get(letter)),
                )
                for letter in LETTERS
            ]
        )
        self._blind.show_rows(
            [
                (name, *map(_percent, (*scores["as listed"], *scores["shuffled"])))
                for name, scores in data["blind"].items()
            ]
        )
        self._defects.show_rows(
            [(each["id"], str(each["question"]), tr(each["defect"])) for each in defects]
        )
        self._letters.show()
        self._blind.show()
        self._defects.setVisible(bool(defects))


def _answers_in_words(biases: AnswerBiases) -> str:
    words = tr(
        "Letter preference (share of answers that differ from the keys' distribution): {excess}. "
        "Answered None: {abstained}. Longest option: chosen {longest}, key {longest_keys}. "
        "Agreement of rollouts: {agreement}."
    )
    return words.format(
        excess=_percent(biases.excess),
        abstained=_percent(biases.abstained),
        longest=_percent(biases.longest),
        longest_keys=_percent(biases.longest_keys),
        agreement=_percent(biases.agreement),
    )


def _data_in_words(data: Mapping[str, Any], leaves_out_defects: bool) -> str:
    words = tr("Questions: {questions}. Pictures: {pictures}. Defects: {defects}; {treatment}.")
    left_out, counted = tr("these questions are left out"), tr("these questions count")
    return words.format(
        questions=data["questions"],
        pictures=data["pictures"],
        defects=len(data["defects"]),
        treatment=left_out if leaves_out_defects else counted,
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"  # noqa: RUF001 - a dash
