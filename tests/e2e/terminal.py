"""A program in a real terminal, for tests: tmux draws, the test types and looks at the screen.

Nothing here waits for a fixed time: wait_for() looks again until the text is there or the deadline
has passed.
"""
import itertools
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import time

DEADLINE_S = 60
LOOK_AGAIN_S = 0.02
_numbers = itertools.count()


class Terminal:
    """`with Terminal([program, argument...], home=folder) as t:`; its end ends the program."""

    def __init__(self, command, columns=100, rows=40, env=None):
        self.folder = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.folder.name, "tmux")
        self.name = f"t{os.getpid()}-{next(_numbers)}"
        words = " ".join(shlex.quote(str(word)) for word in command)
        # The shell outlives Ctrl-C and says how the program ended.
        script = f"trap : INT; {words}; printf '\\n[status %s]\\n' $?; exec cat"
        # libedit copies the name and help of every key function that a program adds (EL_ADDFN), and
        # el_end does not free them: some 400 bytes per process, which the leak checker would report.
        settings = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "ASAN_OPTIONS": "detect_leaks=0",
                    **(env or {})}
        given = [f"{key}={value}" for key, value in settings.items()]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", self.name, "-x", str(columns),
                  "-y", str(rows), "env", "-i", "TERM=screen", *given, "sh", "-c", script)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-u", "-S", self.socket, "kill-server"], capture_output=True)
        self.folder.cleanup()

    def tmux(self, *arguments, stdin=None):
        done = subprocess.run(["tmux", "-u", "-S", self.socket, *arguments], input=stdin,
                              capture_output=True, encoding="utf-8", timeout=DEADLINE_S)
        if done.returncode != 0:
            raise AssertionError(f"tmux {arguments[:3]}: {done.stderr}")
        return done.stdout

    def press(self, *keys):
        """Keys by tmux's names: Up, C-c, Enter, ..."""
        self.tmux("send-keys", "-t", self.name, *keys)

    def type(self, text, *keys):
        self.tmux("send-keys", "-t", self.name, "-l", "--", text)
        if keys:
            self.press(*keys)

    def enter(self, text):
        self.type(text, "Enter")

    def paste(self, text):
        """As a terminal does that knows bracketed paste, if the program asked for that."""
        self.tmux("load-buffer", "-", stdin=text)
        self.tmux("paste-buffer", "-p", "-t", self.name)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", self.name, "-x", str(columns), "-y", str(rows))

    def screen(self, *how):
        """What stands there and what has scrolled away, without blank lines at the end."""
        return self.tmux("capture-pane", "-p", "-t", self.name, "-S", "-", *how).rstrip()

    def line(self):
        """The last line that is not blank: where the cursor is, at a prompt."""
        return self.screen().split("\n")[-1]

    def wait_for(self, pattern):
        """The match of a regular expression in the screen; fails when the deadline has passed."""
        return self.wait_until(lambda screen: re.search(pattern, screen, re.M), pattern)

    def wait_until(self, holds, what):
        deadline = time.monotonic() + DEADLINE_S
        while True:
            screen = self.screen()
            found = holds(screen)
            if found:
                return found
            if time.monotonic() > deadline:
                raise AssertionError(f"never came: {what}\n--- the screen:\n{screen}\n---")
            time.sleep(LOOK_AGAIN_S)

    def wait_for_line(self, line):
        self.wait_until(lambda screen: screen.split("\n")[-1] == line, f"a last line {line!r}")

    def program(self, name):
        """The process of that name that runs in the shell, or in a shell that runs in it."""
        pane = self.tmux("display-message", "-p", "-t", self.name, "#{pane_pid}").strip()
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            for pid in descendants(pane):
                if read(f"/proc/{pid}/comm").strip() == name[:15]:
                    return int(pid)
        raise AssertionError(f"{name} never started")


def read(path):
    """Empty if it is gone."""
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def descendants(pid):
    """Children before grandchildren."""
    children = read(f"/proc/{pid}/task/{pid}/children").split()
    return children + [one for child in children for one in descendants(child)]
