#!/usr/bin/env python3
"""session.py COMMAND...: runs a command in a session of its own and ends it whole.

lit's workers ignore an interrupt, and so does what they run: Ctrl-C, SIGTERM or a
closed terminal end every process of the session here, and as a program so does the
end of its parent. Exit status: the command's; 130 when it was interrupted."""
import ctypes
import os
import signal
import subprocess
import sys
import time

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1  # linux/prctl.h
GRACE = 5  # seconds that SIGTERM gives: a run inside the session ends its own session


class Interrupted(Exception):
    pass


def members(session):
    """Pids of the processes of a session that still run."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as f:
                state, _, _, sid = f.read().rpartition(")")[2].split()[:4]
        except OSError:  # it ended meanwhile
            continue
        if int(sid) == session and state not in "XZ":
            yield int(pid)


def kill_session(session):
    """SIGTERM for all of it, SIGKILL for what is left after GRACE seconds."""
    end = time.monotonic() + GRACE
    signal_number = signal.SIGTERM
    while pids := list(members(session)):
        for pid in pids:
            try:
                os.kill(pid, signal_number)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
        if time.monotonic() > end:
            signal_number = signal.SIGKILL


def interrupt(*_):
    for s in SIGNALS:
        signal.signal(s, signal.SIG_IGN)  # once is enough: the ending is not to be interrupted
    raise Interrupted


def run(command):
    """The command's exit status; Interrupted when a signal came, and nothing of it runs any more."""
    before = {s: signal.getsignal(s) for s in SIGNALS}
    for s in SIGNALS:
        if before[s] != signal.SIG_IGN:
            signal.signal(s, interrupt)
    child = None
    try:
        child = subprocess.Popen(command, start_new_session=True)
        return child.wait()
    except Interrupted:
        if child:
            kill_session(child.pid)
            child.wait()
        raise
    finally:
        for s in SIGNALS:
            signal.signal(s, before[s])


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        sys.exit(run(sys.argv[1:]))
    except Interrupted:
        sys.exit(130)
