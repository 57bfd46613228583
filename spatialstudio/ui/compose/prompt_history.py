"""Prompts that were drawn: one goes back through them, and forward to what one was writing."""

from spatialstudio.ui.framework.window_settings import WindowSettings

MOST_PROMPTS = 50


class PromptHistory:
    """Earlier prompts, kept between starts, each once.

    Args:
        settings: Where they are kept.
    """

    def __init__(self, settings: WindowSettings) -> None:
        self._settings = settings
        self._unfinished = ""
        self._back = 0

    def remember(self, text: str) -> None:
        """Put a prompt last, and let going back begin anew; nothing happens to the last one."""
        earlier = self._settings.earlier_prompts
        if earlier[-1:] != (text,):
            self._back = 0
            others = [each for each in earlier if each != text]
            self._settings.earlier_prompts = tuple([*others, text][-MOST_PROMPTS:])

    def step(self, by: int, now: str) -> str | None:
        """Go back or forward.

        Args:
            by: 1 to an earlier prompt, -1 to a later one.
            now: What stands in the editor.

        Returns:
            What shall stand there; None at either end.
        """
        earlier = self._settings.earlier_prompts
        if self._back and now != earlier[-self._back]:
            self._back = 0  # what was fetched has been written on
        if not self._back:
            self._unfinished = now
        back = self._back + by
        if back and by > 0 and back <= len(earlier) and earlier[-back] == now:
            back += by
        if not 0 <= back <= len(earlier) or back == self._back:
            return None
        self._back = back
        return earlier[-back] if back else self._unfinished
