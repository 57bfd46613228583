"""Stop a program that votes at random moments; see that no vote is lost or stored twice.

    python -m tests.performance.kill_voting [MOMENTS] [SEED]

A child process votes on a session without pause, takes every seventh vote back and skips every
eleventh picture. It reports each entry after the call that stores it: from then on, the rater sees
the next picture. It is killed (SIGKILL) at a random moment. Then the journal must hold every
reported entry once and in order, and at most one more, which was stored but not reported yet; and
the session continues from there to its end.
"""

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from spatialstudio.adapters.storage.stores.vote_journal import FileVoteJournals
from spatialstudio.application.audit.sessions import AuditSessions
from spatialstudio.domain.audit_session import Answer
from spatialstudio.domain.verdict import Outcome
from tests.audit_population import session_of

MOMENTS = 200
PICTURES = 400
MOST_REPORTED = 120
LONGEST_S = 0.01
OUTCOMES = tuple(Outcome)


def vote_until_the_end(voting, report):
    """Vote, undo and skip; report the number of each entry once its call returns."""
    chance = random.Random(len(voting.state.entries))
    while voting.items:
        turn = len(voting.state.entries)
        if turn % 7 == 6 and voting.state.last_vote:
            voting.undo()
        elif turn % 11 == 10:
            voting.skip()
        else:
            voting.vote(Answer(verdict=chance.choice(OUTCOMES)), note="x" * chance.randint(0, 200))
        last = voting.state.entries[-1]
        answer = last.answer.verdict.value if last.answer else "-"
        report(f"{last.number} {last.kind.value} {last.showing} {answer}")


def killed_after(sessions, path, count, wait_s):
    """Let a child continue a session, kill it, and return the lines that it reported."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            voting = sessions.open(path)
            vote_until_the_end(voting, lambda line: os.write(writer, f"{line}\n".encode()))
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as lines:
        first = [lines.readline() for _ in range(count)]
        time.sleep(wait_s)  # noqa: TID251 - the moment is the point
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return [line.strip() for line in (*first, *lines) if line.endswith("\n")]


def stored_lines(state):
    """Return the journal in the words of the child."""
    return [
        f"{entry.number} {entry.kind.value} {entry.showing} "
        f"{entry.answer.verdict.value if entry.answer else '-'}"
        for entry in state.entries
    ]


def try_moments(moments, seed):
    """Kill children at random moments; return the number of entries reported, and what was wrong.

    Each child continues the session of the one before; a finished session is followed by a new one.
    """
    chance, wrong, entries = random.Random(seed), [], 0
    with tempfile.TemporaryDirectory(prefix="votes") as folder:
        sessions = AuditSessions(Path(folder), FileVoteJournals())
        path, reported = None, []
        for moment in range(moments):
            if path is None or sessions.read(path).is_complete:
                sessions.start(session_of(PICTURES, seed=seed + moment)).close()
                path, reported = sessions.list()[0][0], []
            new = killed_after(
                sessions, path, chance.randint(1, MOST_REPORTED), chance.uniform(0, LONGEST_S)
            )
            entries += len(new)
            reported += new
            stored = stored_lines(sessions.read(path))
            if stored[: len(reported)] != reported or len(stored) > len(reported) + 1:
                wrong.append(f"moment {moment}: reported {len(reported)}, stored {len(stored)}")
            reported = stored
    return entries, wrong


def main():
    moments, seed = (int(each) for each in (*sys.argv[1:], MOMENTS, 1)[:2])
    entries, wrong = try_moments(moments, seed)
    print(f"{moments} kills, {entries} entries reported")  # noqa: T201
    print(*(wrong or ["0 votes lost, 0 duplicated"]), sep="\n")  # noqa: T201
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
