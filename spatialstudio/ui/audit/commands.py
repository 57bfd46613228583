"""Commands of audits: sessions, votes, and what follows from them."""

from functools import partial

from spatialstudio.ui.framework.command import Command, Menu, Scope

_session = partial(Command, menu=Menu.RUN)
_vote = partial(Command, menu=Menu.RUN, scope=Scope.AUDIT)

NEW = _session(
    "new_audit",
    text="New audit…",
    icon="plus",
    starts_group=True,
    tip="Choose pictures, the sample and the rater, and start a session",
)
OPEN = _session("open_audit", text="Continue a session…", tip="Open a file of votes")
ADD_LABELS = _session(
    "add_labels",
    text="Add labels of other raters…",
    tip="Merge sessions and label files into the analysis, in any order",
)
EXPORT_LABELS = _session("export_labels", text="Export labels…", tip="As CSV, JSON or Label Studio")
EXPORT_SAMPLE = _session("export_sample", text="Export the sample…", tip="As CSV, with weights")
ADJUDICATE = _session(
    "adjudicate",
    text="Adjudicate disagreements",
    tip="Vote on the pictures on which raters differ; these votes settle them",
)
END = _session(
    "end_audit",
    text="End the session…",
    tip="Show the analysis before every picture has a vote; the session records it",
)
REVEAL = _session(
    "reveal_verdict",
    text="Show the verdict…",
    tip="Show the checker's verdict on this picture; the vote on it is then no label",
)
CLOSE = _session("close_audit", text="Close the session", tip="Votes are stored already")

VOTE_PASS = _vote("vote_pass", text="Pass", keys="P", starts_group=True)
VOTE_FAIL = _vote("vote_fail", text="Fail", keys="F")
VOTE_UNDECIDABLE = _vote("vote_undecidable", text="Undecidable", keys="U")
PREFER_FIRST = _vote("prefer_first", text="Prefer the left picture", keys="1")
PREFER_SECOND = _vote("prefer_second", text="Prefer the right picture", keys="2")
PREFER_NEITHER = _vote("prefer_neither", text="Both are equal", keys="0")
NEXT = _vote(
    "next_vote",
    text="Next picture",
    keys="Return",
    tip="Store the score, or the vote that was taken back, and go on",
)
SKIP = _vote("skip_vote", text="Skip", keys="S", tip="Leave the picture for the end")
UNDO_VOTE = _vote(
    "undo_vote",
    text="Undo vote",
    keys="Ctrl+Z",
    tip="Return to the last picture; Next keeps its vote",
)
NOTE = _vote("vote_note", text="Note", keys="N", tip="Add a note to the vote")
ZOOM = _vote("vote_zoom", text="Zoom", keys="Z", tip="Show the middle of the picture larger")

COMMANDS = (
    *(NEW, OPEN, ADD_LABELS, EXPORT_LABELS, EXPORT_SAMPLE, ADJUDICATE, END, REVEAL, CLOSE),
    *(VOTE_PASS, VOTE_FAIL, VOTE_UNDECIDABLE),
    *(PREFER_FIRST, PREFER_SECOND, PREFER_NEITHER),
    *(NEXT, SKIP, UNDO_VOTE, NOTE, ZOOM),
)
