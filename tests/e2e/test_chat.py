"""`kvik chat` as somebody sits before it: in a terminal, and with its ends in pipes and files."""
import json
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import tempfile
import unittest

from program import BINARY, MODEL, TIMEOUT_S, call, environment
from terminal import Terminal

NAME = os.path.basename(BINARY)
PROMPT = ">>>"
STATUS = r"^prompt \d+ tok.* - \d+ tok.* - ctx \d+/\d+$"

STATUS_AT_40 = r"^\d+ tok \d+ tok/s - ctx \d+/\d+$"


class Chat(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)

    def begin(self, *flags, env=None, **terminal):
        """A chat that greedily says four tokens, or without end tokens all it has room for."""
        for flag, value in (("--temp", "0"), ("--ctx", "2048"), ("-n", "4")):
            if flag not in flags and not (flag == "-n" and "--ignore-eos" in flags):
                flags += (flag, value)
        chat = Terminal([BINARY, "chat", MODEL, *flags],
                        env={"HOME": str(self.home), **(env or {})}, **terminal)
        self.addCleanup(chat.__exit__)
        return chat

    def ready(self, *flags, **how):
        chat = self.begin(*flags, **how)
        chat.wait_for_line(PROMPT)
        return chat

    def says(self, chat, line, pattern):
        """Enters a line; the pattern must come after it, and then a prompt."""
        before = chat.screen().count("\n")
        chat.enter(line)

        def holds(screen):
            new = screen.split("\n")[before:]
            return re.search(pattern, "\n".join(new[1:]), re.M) if new[-1] == PROMPT else None
        return chat.wait_until(holds, f"{pattern!r} after {line!r}")

    def in_a_shell(self, *flags, **env):
        shell = Terminal(["sh", "-i"], env={"HOME": str(self.home), "PS1": "shell: ", **env})
        self.addCleanup(shell.__exit__)
        shell.enter(f"{BINARY} chat {MODEL} --temp 0 -n 4 {' '.join(flags)}")
        shell.wait_for_line(PROMPT)
        return shell

    def is_in_order(self, shell):
        shell.wait_for_line("shell:")
        shell.enter("stty -a")
        shell.wait_for(r"[ ;]icanon .*[ ;]echo ")

    def ends(self, chat, status):
        chat.wait_for(rf"^\[status {status}\]$")


class Editing(Chat):
    def test_keys_move_and_delete(self):
        chat = self.ready()
        chat.type("helo", "Left")
        chat.type("l")
        chat.wait_for_line(">>> hello")
        chat.press("Home")
        chat.type("X", "End")
        chat.type("Y", "BSpace")
        chat.wait_for_line(">>> Xhello")
        chat.press("Home", "DC")
        chat.type("oh ", "C-Right")
        chat.type(" you two", "C-w")
        chat.wait_for_line(">>> oh hello you")
        chat.press("C-Left", "C-k")
        chat.wait_for_line(">>> oh hello")
        chat.press("C-u")
        chat.wait_for_line(PROMPT)

    def test_characters_are_whole(self):
        chat = self.ready()
        chat.type("gr\u00fc\u00dfe \u6f22\u5b57", "BSpace", "Left", "BSpace")
        chat.wait_for_line(">>> gr\u00fc\u00dfe\u6f22")
        chat.press("Home", "Right", "Right", "DC")
        chat.wait_for_line(">>> gr\u00dfe\u6f22")

    def test_a_line_may_be_longer_than_a_terminal_s_own_4095_bytes(self):
        chat = self.ready("-n", "1", "--ignore-eos")
        chat.paste("word " * 1200)
        chat.press("Enter")
        n_tokens = int(chat.wait_for(r"^prompt (\d+) tok").group(1))
        self.assertGreater(n_tokens, 1200)

    def test_several_lines_become_one_message(self):
        chat = self.ready()
        chat.paste("one\n/two\nthree\n")
        chat.wait_for_line("three")
        chat.type("!", "Up")
        chat.type("?", "Enter")
        chat.wait_for(STATUS)
        self.says(chat, "/list", r"^  1 user +one /two\? three!$")
        chat.enter('"""four')
        chat.wait_for_line("...")
        chat.enter("/five")
        chat.enter('six"""')
        chat.enter("/list")
        chat.wait_for(r"^  2 user +four /five six$")
        chat.enter("seven\\")
        chat.wait_for_line("...")
        chat.enter("eight")
        chat.enter("/list")
        chat.wait_for(r"^  3 user +seven eight$")
        chat.type("nine", "M-Enter")
        chat.type("ten", "Enter")
        chat.enter("/list")
        chat.wait_for(r"^  4 user +nine ten$")

    def test_tab_completes_commands(self):
        chat = self.ready()
        chat.type("/reg", "Tab")
        chat.wait_for_line(">>> /regen")

    def test_tab_completes_files_and_settings(self):
        (self.home / "chat-of-today.json").write_text("[]")
        (self.home / "folder").mkdir()
        chat = self.ready()
        for typed, whole in (("/load ~/cha", "/load ~/chat-of-today.json"),
                             ("/save ~/fo", "/save ~/folder/"), ("/set repe", "/set repeat_penalty"),
                             ("/set parameter temp", "/set parameter temp"),
                             ("/show te", "/show template"), ("/branch m", "/branch main")):
            with self.subTest(typed=typed):
                chat.type(typed, "Tab")
                chat.wait_for_line(">>> " + whole)
                chat.press("C-u")
                chat.wait_for_line(PROMPT)
        chat.type("/re", "Tab")
        chat.wait_for(r"^/regen  .*/redo  .*/read  .*/reset")

    def test_a_new_size_is_heeded(self):
        chat = self.ready()
        chat.type("some words before")
        chat.wait_for_line(">>> some words before")
        chat.resize(50, 20)
        chat.type(" and after " + "x" * 40)
        chat.wait_for(r"^>>> some words before and after x{18}\nx{22}$")

    def test_it_can_be_stopped_and_gone_on_with(self):
        shell = self.in_a_shell()
        shell.type("half a li")
        shell.wait_for_line(">>> half a li")
        shell.press("C-z")
        shell.wait_for_line("shell:")
        shell.enter("fg")
        shell.wait_for_line(">>> half a li")
        shell.type("ne", "C-a")
        shell.type("/", "Enter")
        shell.wait_for("/half is no command")
        shell.press("C-d")
        shell.wait_for_line("shell:")

    def test_an_end_by_signal_leaves_the_terminal_as_it_was(self):
        shell = self.in_a_shell()
        os.kill(shell.program(NAME), signal.SIGTERM)
        self.is_in_order(shell)


class History(Chat):
    def file(self):
        return self.home / ".local/state/kvik/chat_history"

    def test_outlives_the_chat_for_its_owner_alone(self):
        chat = self.ready()
        self.says(chat, "the first", STATUS)
        chat.paste("two\nlines")
        chat.press("Enter")
        chat.wait_until(lambda screen: len(re.findall(STATUS, screen, re.M)) == 2, "a second one")
        chat.press("C-d")
        self.ends(chat, 0)
        self.assertEqual(stat.S_IMODE(self.file().stat().st_mode), 0o600)
        again = self.ready()
        again.press("Up")
        again.wait_for(r"^>>> two\nlines$")
        again.press("Up", "Up")
        again.wait_for(r"^>>> the first$")
        again.press("Down", "Down", "Down")
        again.wait_for_line(PROMPT)
        again.press("C-r")
        again.type("firs", "Enter")
        again.wait_for(STATUS)
        self.assertIn(">>> the first", again.screen())

    def test_a_home_that_cannot_be_written_is_no_error(self):
        chat = self.ready(env={"HOME": "/dev/null"})
        self.assertEqual(len(re.findall("history is not kept", chat.screen())), 1)
        self.says(chat, "hello", STATUS)
        chat.press("Up")
        chat.wait_for_line(">>> hello")


class Interrupting(Chat):
    def test_at_the_prompt_it_drops_the_line_then_says_how_to_leave_then_leaves(self):
        chat = self.ready()
        chat.type("half a line")
        chat.wait_for_line(">>> half a line")
        chat.press("C-c")
        chat.wait_for(r"^>>> half a line\^C\n>>>$")
        chat.press("C-c")
        chat.wait_for(r"Ctrl-D leaves\)\n>>>$")
        chat.enter('"""')
        chat.wait_for_line("...")
        chat.press("C-c")
        chat.wait_for_line(PROMPT)
        chat.press("C-c")
        chat.wait_for(r"Ctrl-D leaves\)\n(.*\n)+.*Ctrl-D leaves\)\n>>>$")
        chat.press("C-c")
        self.ends(chat, 130)

    def test_while_loading_it_leaves(self):
        chat = self.begin()
        pid = chat.program(NAME)
        interrupt = 1 << (signal.SIGINT - 1)

        def is_held():
            for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("SigBlk:"):
                    return int(line.split()[1], 16) & interrupt
        while not is_held():
            pass
        os.kill(pid, signal.SIGINT)
        self.ends(chat, 130)

    def test_while_the_prompt_is_read_it_drops_the_message(self):
        # Slow enough to be seen, in steps short enough to be stopped.
        chat = self.ready("--ubatch", "16", "--threads", "1", env={"KVIK_ISA": "scalar"})
        chat.enter("word " * 400)
        chat.wait_for("reading the prompt")
        chat.press("C-c")
        chat.wait_for(r"^\(stopped before it said anything: the message is dropped\)\n>>>$")
        self.says(chat, "/list", "no messages")

    def test_twice_it_leaves_at_once(self):
        # The whole prompt in one step that takes many seconds.
        shell = self.in_a_shell("--ubatch", "2048", "--threads", "1", KVIK_ISA="scalar")
        shell.enter("word " * 1200)
        shell.wait_for("reading the prompt")
        shell.press("C-c")
        shell.wait_for("reading the prompt, [1-9]")
        shell.press("C-c")
        self.is_in_order(shell)

    def test_in_an_answer_it_keeps_what_was_said(self):
        chat = self.ready("--ignore-eos")
        chat.enter("Count from one to a hundred.")
        chat.wait_for(r"^>>> Count.*\n.*\w+ \w+")
        chat.press("C-c")
        chat.wait_for(r"^\(stopped; what was said is kept\)\n" + STATUS[1:-1] + r"\n>>>$")
        self.says(chat, "/list", r"^  1 user +Count.*\n +assistant +\w+")
        said = int(re.search(r"- ctx (\d+)/", chat.screen()).group(1))
        self.says(chat, "/set n 2", "^n 2$")
        chat.enter("Go on.")
        chat.wait_until(lambda screen: len(re.findall(r"- ctx", screen)) == 2, "a second status")
        cached = int(re.findall(r"\((\d+) cached\)", chat.screen())[-1])
        self.assertGreaterEqual(cached, said - 1)


class Commands(Chat):
    def test_an_answer_anew_computes_nothing_of_the_prompt(self):
        chat = self.ready("-n", "4", "--temp", "2", "--seed", "0")
        self.says(chat, "Tell me a story.", STATUS)
        seen = self.says(chat, "/regen", r"^seed 1$(.|\n)*^prompt (\d+) tok \((\d+) cached\)")
        self.assertEqual(seen.group(2), seen.group(3))
        self.says(chat, "/regen", r"^seed 2$(.|\n)*^prompt")
        self.says(chat, "/list", r"^  1 user .*\n    assistant .*\n>>>$")

    def test_all_answers_are_kept(self):
        chat = self.ready("-n", "6", "--temp", "2", "--seed", "0", "--ignore-eos")
        self.says(chat, "Tell me a story.", STATUS)
        first = self.says(chat, "/answers", r"^\*   1  (.*)$").group(1)
        self.says(chat, "/regen", r"seed 1")
        self.says(chat, "/regen", r"seed 2")
        self.says(chat, "/answers", r"^    1  .*\n    2  .*\n\*   3  ")
        self.says(chat, "/answer 1", re.escape(first.split()[0]))
        self.says(chat, "/answers", r"^\*   1  .*\n    2  .*\n    3  ")
        self.says(chat, "/answer 4", r"there is no answer 4: the last message has 3")
        # Gone on with from its own tokens: nothing of it is computed again.
        self.says(chat, "/set temp 0", "temp 0")
        seen = self.says(chat, "And then?", r"^prompt (\d+) tok \((\d+) cached\)")
        self.assertGreater(int(seen.group(2)), int(seen.group(1)) - 20)
        self.says(chat, "/undo", "took back 1 turn: And then")
        self.says(chat, "/answers", r"^\*   1  .*\n    2  .*\n    3  ")

    def test_what_was_taken_back_comes_back(self):
        chat = self.ready()
        self.says(chat, "/redo", "nothing to bring back")
        self.says(chat, "Say alpha.", STATUS)
        self.says(chat, "Say beta.", STATUS)
        self.says(chat, "/undo 2", r"^took back 2 turns; the last one: Say alpha.$")
        self.says(chat, "/redo", r"^brought back 1 turn: Say alpha.$")
        self.says(chat, "/redo 3", r"^brought back 1 of 3 turns, there are no more: Say beta.$")
        self.says(chat, "/list", r"1 user +Say alpha.\n +assistant .*\n +2 user +Say beta.\n +ass")
        self.says(chat, "/undo", "took back")
        self.says(chat, "Say gamma.", STATUS)
        self.says(chat, "/redo", "nothing to bring back")

    def test_an_answer_that_was_cut_goes_on(self):
        whole = self.ready("-n", "12", "--ignore-eos")
        self.says(whole, "Tell me a story.", STATUS)
        text = self.says(whole, "/answers", r"^\*   1  (.*)$").group(1)
        cut = self.ready("-n", "6", "--ignore-eos")
        self.says(cut, "/continue", "there is no answer")
        self.says(cut, "Tell me a story.", STATUS)
        self.says(cut, "/continue", STATUS)
        self.assertEqual(self.says(cut, "/answers", r"^\*   1  (.*)$").group(1), text)

    def test_settings_and_the_system_message_go_on_too(self):
        chat = self.ready("--system", "Be long.")
        self.says(chat, "/set system Be brief.", "next turn")
        self.says(chat, "/set top_k 7", "top_k 7")
        self.says(chat, "/set stop END", "END")
        self.says(chat, "Say alpha.", STATUS)
        chat.enter("/bye")
        self.ends(chat, 0)
        for words in (("chat", MODEL), ("run", MODEL), (MODEL,)):
            with self.subTest(words=words), Terminal(
                    [BINARY, *words, "--resume", "--top-p", "0.5"],
                    env={"HOME": str(self.home)}) as again:
                again.wait_for_line(PROMPT)
                self.says(again, "/system", "^Be brief.$")
                self.says(again, "/set", r"(?s)^temp +0 .*^top_k +7 .*^top_p +0.5 .*^stop +END ")
        with Terminal([BINARY, "chat", MODEL, "--resume", "--system", "Be kind."],
                      env={"HOME": str(self.home)}) as again:
            again.wait_for_line(PROMPT)
            self.says(again, "/system", "^Be kind.$")

    def kept(self):
        files = list((self.home / ".local/state/kvik/chats").glob("*.json"))
        self.assertEqual(len(files), 1, files)
        return [(m["role"], m["content"]) for m in json.loads(files[0].read_text())["messages"]]

    def test_what_was_asked_outlives_a_kill(self):
        for end, while_reading in ((signal.SIGKILL, True), (signal.SIGKILL, False),
                                   (signal.SIGTERM, True), (signal.SIGTERM, False),
                                   (signal.SIGHUP, True), (signal.SIGHUP, False)):
            with self.subTest(end=end, while_reading=while_reading), \
                    tempfile.TemporaryDirectory() as home:
                self.home = pathlib.Path(home)
                slow = {"KVIK_ISA": "scalar"}
                chat = self.ready("--ignore-eos", "--ubatch", "16", "--threads", "1", env=slow)
                question = "word " * 400 if while_reading else "Tell me a story."
                chat.enter(question)
                chat.wait_for("reading the prompt" if while_reading else
                              r"^>>> Tell.*\n(?!reading).*\w+ \w+")
                os.kill(chat.program(NAME), end)
                self.ends(chat, 128 + end)
                kept = self.kept()
                self.assertEqual(kept[0][1].strip(), question.strip())
                said_something = end != signal.SIGKILL and not while_reading
                self.assertEqual(len(kept), 2 if said_something else 1, kept)
                if said_something:
                    continue
                again = self.ready_again(question)
                again.press("C-u")
                again.enter("/list")
                again.wait_for("no messages")

    def ready_again(self, question):
        again = self.begin("--resume")
        again.wait_for("has no answer yet: Enter sends it again")
        again.wait_for(">>> " + question.split()[0])
        return again

    def test_an_end_at_the_prompt_is_a_clean_one(self):
        chat = self.ready()
        self.says(chat, "Say alpha.", STATUS)
        chat.type("half a line")
        chat.wait_for_line(">>> half a line")
        os.kill(chat.program(NAME), signal.SIGTERM)
        self.ends(chat, 128 + signal.SIGTERM)
        self.assertEqual([role for role, _ in self.kept()], ["user", "assistant"])

    def test_a_message_that_was_dropped_is_not_kept(self):
        chat = self.ready("--ubatch", "16", "--threads", "1", env={"KVIK_ISA": "scalar"})
        chat.enter("word " * 400)
        chat.wait_for("reading the prompt")
        chat.press("C-c")
        chat.wait_for(r"the message is dropped\)\n>>>$")
        self.assertEqual(list((self.home / ".local/state/kvik/chats").iterdir()), [])

    def test_an_answer_of_an_earlier_chat_goes_on(self):
        chat = self.ready("-n", "6", "--ignore-eos")
        self.says(chat, "Tell me a story.", STATUS)
        cut = self.says(chat, "/answers", r"^\*   1  (.*)$").group(1)
        chat.enter("/bye")
        self.ends(chat, 0)
        again = self.ready("--resume", "-n", "6", "--ignore-eos")
        self.says(again, "/continue", STATUS)
        whole = self.says(again, "/answers", r"^\*   1  (.*)$").group(1)
        self.assertTrue(whole.startswith(cut) and len(whole) > len(cut), (cut, whole))
        self.says(again, "/list", r"^  1 user .*\n    assistant .*\n>>>$")

    def test_an_answer_that_would_be_the_same_is_not_computed_again(self):
        chat = self.ready()
        self.says(chat, "Say alpha.", STATUS)
        self.says(chat, "/regen", r"^temp is 0, so the answer would be the same.*\n>>>$")
        self.says(chat, "/set n 2", "n 2")
        self.says(chat, "/regen", r"- 2 tok")
        self.says(chat, "/regen", r"the same.*\n>>>$")
        self.says(chat, "/set temp 1", "temp 1")
        self.says(chat, "/regen", r"^seed \d+\n(.|\n)*" + STATUS)

    def test_a_chat_goes_on_where_the_last_one_ended(self):
        chat = self.ready()
        self.says(chat, "Say alpha.", STATUS)
        chat.enter("/bye")
        self.ends(chat, 0)
        kept = list((self.home / ".local/state/kvik/chats").iterdir())
        self.assertEqual([stat.S_IMODE(one.stat().st_mode) for one in kept], [0o600])
        again = self.ready("--resume")
        self.assertIn("going on after 2 messages", again.screen())
        self.says(again, "Say beta.", STATUS)
        self.says(again, "/list", r"1 user +Say alpha.\n +assistant .*\n +2 user +Say beta.")
        again.enter("/exit")
        self.ends(again, 0)
        self.assertEqual(len(json.loads(kept[0].read_text())["messages"]), 4)
        other = self.ready("--no-autosave")
        self.says(other, "Say gamma.", STATUS)
        other.enter("/exit")
        self.ends(other, 0)
        self.assertEqual(list(kept[0].parent.iterdir()), kept)

    def test_a_file_stands_before_the_next_message(self):
        (self.home / "notes.txt").write_text("The sky is green.\n")
        (self.home / "bytes").write_bytes(b"\xff\xfe")
        chat = self.ready()
        self.says(chat, "/read ~/bytes", "not text in UTF-8")
        self.says(chat, "/read ~/notes.txt", "18 bytes of ~/notes.txt")
        self.says(chat, "What colour?", STATUS)
        self.says(chat, "/list", r"1 user +The sky is green.  What colour\?$")
        self.says(chat, "And now?", STATUS)
        self.says(chat, "/list", r"2 user +And now\?$")

    def test_going_back_and_changing_what_was_said(self):
        chat = self.ready()
        self.says(chat, "/undo", "nothing to take back")
        for word in ("alpha", "beta", "gamma"):
            self.says(chat, f"Say {word}.", STATUS)
        self.says(chat, "/undo", "^took back 1 turn: Say gamma.$")
        self.says(chat, "/edit 1 Say omega.", STATUS)
        self.says(chat, "/list", r"^  1 user +Say omega.\n    assistant .*\n>>>$")
        chat.enter("/edit")
        chat.wait_for_line("edit> Say omega.")
        chat.press("BSpace")
        chat.type(" twice.", "Enter")
        chat.wait_until(lambda screen: len(re.findall(STATUS, screen, re.M)) == 5, "an answer")
        self.says(chat, "/list", r"^  1 user +Say omega twice.\n")
        chat.enter("/edit")
        chat.wait_for_line("edit> Say omega twice.")
        chat.press("C-c")
        chat.wait_for_line(PROMPT)
        self.says(chat, "/edit 7 x", "no message 7")
        self.says(chat, "/list", r"^  1 user +Say omega twice.\n")
        self.says(chat, "/clear", "")
        self.says(chat, "/list", "no messages")

    def test_branches(self):
        chat = self.ready()
        self.says(chat, "Say alpha.", STATUS)
        self.says(chat, "/fork other", "on other now")
        self.says(chat, "Say beta.", STATUS)
        self.says(chat, "/branch", r"^  main +2 messages.*\n\* `- other +4 messages, \d+ tokens, "
                                   r"from main after 2$")
        self.says(chat, "/branch -", r"on main now, 2 messages\nlast: Say alpha.$")
        self.says(chat, "/branch ohter", r"did you mean other\?")
        seen = self.says(chat, "Say beta.", r"^prompt (\d+) tok \((\d+) cached\)")
        self.assertGreaterEqual(int(seen.group(2)), int(seen.group(1)) - 1)

    def test_system_and_settings(self):
        chat = self.ready()
        self.says(chat, "/system", "^no system message$")
        self.says(chat, "/system Be brief.", "next turn")
        self.says(chat, "/system", "^Be brief.$")
        self.says(chat, "/set", r"(?s)^temp +0 .*top_k.*top_p.*min_p.*seed.*repeat_penalty.*stop")
        self.says(chat, "/set top-k 40", "^top_k 40$")
        self.says(chat, "/set temp hot", "temp: .*hot")
        self.says(chat, "/set tmep 1", r"did you mean temp\?")
        self.says(chat, "/set n 2", "^n 2$")
        self.says(chat, "hello", r"- 2 tok")

    def test_saving_and_loading(self):
        chat = self.ready()
        self.says(chat, "/system Be brief.", "next turn")
        self.says(chat, "Say alpha.", STATUS)
        self.says(chat, "/set top_k 40", "^top_k 40$")
        self.says(chat, "/save ~/chat.json", "saved 3 messages")
        saved = self.home / "chat.json"
        self.assertEqual(stat.S_IMODE(saved.stat().st_mode), 0o600)
        content = json.loads(saved.read_text())
        self.assertEqual([m["role"] for m in content["messages"]], ["system", "user", "assistant"])
        chat.enter("/exit")
        self.ends(chat, 0)
        again = self.ready()
        self.says(again, "/load ~/chat.json", "loaded 3 messages")
        self.says(again, "/set top_k", "^top_k 40$")
        self.says(again, "/list", r"system +Be brief.\n  1 user +Say alpha.$")
        (self.home / "bad.json").write_text("[" * 100000)
        self.says(again, "/load ~/bad.json", "^kvik: .*bad.json")
        self.says(again, "/load ~/none.json", "^kvik: .*none.json.*No such file")
        self.says(again, "/list", "Say alpha.")

    def test_reports(self):
        chat = self.ready()
        self.says(chat, "Say alpha.", STATUS)
        self.says(chat, "/stats", r"(?s)^context +\d+ of 2048 tokens in 2 messages.*answers +4 tok")
        self.says(chat, "/cache", r"(?s)^blocks +\[#\.+\] \d+ of \d+.*^tokens .*^kept +\d+ tokens.*"
                                  r"^\* main +2 messages")
        self.says(chat, "/help", r"(?s)^/regen .*^/undo .*^/edit .*^/fork .*/clear .*^/system .*"
                                 r"^/set .*^/save .*^/load .*^/stats .*^/cache, /why .*/bye.* leave")
        self.says(chat, "/hlep", r"did you mean /help\?")
        self.says(chat, "//slash", STATUS)
        self.says(chat, "/list", r"^  2 user +/slash$")

    def test_the_help_fits_a_small_terminal(self):
        chat = self.ready(columns=80, rows=24)
        chat.tmux("clear-history", "-t", chat.name)
        chat.press("C-l")
        before = len(chat.screen().split("\n"))
        self.says(chat, "/?", r"^/regen ")
        lines = chat.screen().split("\n")[before - 1:]
        self.assertLessEqual(len(lines), 24, lines)
        self.assertTrue(lines[0].endswith("/?"), lines)
        # No line of it went on in a second one.
        self.assertEqual([line for line in lines if line.startswith("  ")], [])

    def test_a_full_context_says_so_with_both_numbers(self):
        chat = self.ready("--ctx", "64", "--ignore-eos")
        self.says(chat, "Tell me a story.", r"context is full, 64 of 64 tokens: .*/undo.*/reset")
        self.says(chat, "Go on.", r"prompt has \d+ tokens, context is 64(.|\n)*/reset")
        self.says(chat, "/undo", "took back")
        self.says(chat, "/set n 2", "n 2")
        self.says(chat, "Hi.", STATUS)


class Habits(Chat):
    """Every word of Ollama's and of llama.cpp's chats does what it does there, or is one line."""
    WORKS = (
        ("/?", r"^/regen "), ("/help", r"^/regen "), ("/? shortcuts", r"^/regen "),
        ("/help set", r"^/regen "), ("/show", r"/show info, /show parameters"),
        ("/show info", r"^model +Smollm2"), ("/show parameters", r"^temp +0 "),
        ("/show system", r"no system message"), ("/show template", r"im_start"),
        ("/show license", r"kvik show"), ("/show modelfile", r"kvik show"),
        ("/set parameter temperature 0.5", r"^temp 0.5$"), ("/set parameter seed 3", r"^seed 3$"),
        ("/set parameter num_predict 9", r"^n 9$"), ("/set parameter num_predict -1", r"^n off$"),
        ("/set parameter top_k 5", r"^top_k 5$"), ("/set parameter stop AI", r"^stop AI$"),
        ("/set parameter num_ctx 4096", r"--ctx N"), ("/set parameter num_gpu 1", r"CPU"),
        ("/set parameter repeat_last_n 64", r"repeat_last_n: "),
        ("/set system Be brief.", r"next turn"), ("/set verbose", r"/stats"),
        ("/set quiet", r"line after each answer"), ("/set history", r"always kept"),
        ("/set nohistory", r"always kept"), ("/set wordwrap", r"between words"),
        ("/set nowordwrap", r"where the terminal ends"), ("/set format json", r"not available"),
        ("/set noformat", r"no format"), ("/set think", r"template"), ("/set nothink", r"template"),
        ("/image a.png", r"reads text only"), ("/audio a.wav", r"reads text only"),
        ("/glob *.txt", r"/read FILE"), ("/read nowhere.txt", r"No such file"),
        ("/load nowhere", r"No such file.*(.|\n)*kvik chat\s+MODEL"), ("/save", r"needs the name"), ("/regen", r"no message yet"),
        ("/clear", r"forgotten"),
    )

    def test_each_works_or_is_told_in_one_line(self):
        chat = self.ready()
        for typed, pattern in self.WORKS:
            with self.subTest(typed=typed):
                self.says(chat, typed, pattern)
                self.assertNotIn("is no command", chat.screen())
                self.assertNotIn("is no setting", chat.screen())
        self.says(chat, "/set system", "Be brief")
        for leave in ("/bye", "/exit", "/quit"):
            again = self.ready()
            again.enter(leave)
            self.ends(again, 0)

    def test_three_quotes_make_one_message(self):
        chat = self.ready()
        chat.enter('"""one')
        chat.wait_for_line("...")
        chat.enter('two"""')
        chat.wait_for(STATUS)
        self.says(chat, "/list", r"1 user +one two$")


class Looks(Chat):
    def test_answers_are_broken_between_words(self):
        chat = self.ready("-n", "60", "--ignore-eos", columns=40)
        self.says(chat, "Tell me a long story.", STATUS_AT_40)
        wrapped = self.answer_lines(chat)
        self.assertGreater(len(wrapped), 3)
        whole = call("chat", MODEL, "--temp", "0", "--ctx", "2048", "-n", "60", "--ignore-eos",
                     stdin="Tell me a long story.\n").stdout
        self.assertEqual(" ".join(wrapped).split(), whole.split())
        for line, following in zip(wrapped, wrapped[1:]):
            if line and following:
                self.assertGreater(len(line) + 1 + len(following.split()[0]), 40, (line, following))

    def answer_lines(self, chat):
        lines = chat.screen().split("\n")
        begin = next(i for i, line in enumerate(lines) if line.startswith(">>> Tell")) + 1
        end = next(i for i, line in enumerate(lines) if line.startswith("(cut after"))
        return lines[begin:end]

    def test_forty_columns_hold_the_status_line(self):
        chat = self.ready(columns=40)
        self.says(chat, "Say something.", r"^4 tok \d+ tok/s - ctx \d+/2048$")
        chat.type("x" * 60)
        chat.wait_for(r"^>>> x{36}\nx{24}$")
        chat.press("C-u")
        chat.wait_for_line(PROMPT)
        self.says(chat, "/help", r"^/reset, /clear ?\n    start over; the system")

    def test_run_too_says_how_far_a_long_prompt_is(self):
        run = Terminal([BINARY, "run", MODEL, "word " * 600, "--ubatch", "16", "--threads", "1",
                        "-n", "2", "--temp", "0"],
                       env={"HOME": str(self.home), "KVIK_ISA": "scalar"})
        self.addCleanup(run.__exit__)
        run.wait_for(r"^reading the prompt, \d+ s: \d+ of 6\d\d tokens, about \d+ s left$")
        run.press("C-c")
        self.ends(run, 130)
        self.assertNotIn("reading the prompt", run.screen())

    def test_dims_unless_it_was_told_not_to(self):
        for env, dims in (({}, True), ({"NO_COLOR": "1"}, False)):
            with self.subTest(env=env):
                chat = self.ready(env=env)
                self.says(chat, "hello", STATUS)
                self.assertEqual("\x1b[2m" in chat.screen("-e"), dims)

    def test_a_dumb_terminal_gets_plain_lines(self):
        chat = self.ready(env={"TERM": "dumb"})
        self.says(chat, "hello", STATUS)
        self.assertNotIn("\x1b", chat.screen("-e"))
        chat.type("half")
        chat.wait_for_line(">>> half")
        chat.press("C-c")
        chat.wait_for_line(PROMPT)
        chat.press("C-d")
        self.ends(chat, 0)


    def test_what_is_typed_during_an_answer_waits_for_the_prompt(self):
        chat = self.ready("-n", "60", "--ignore-eos")
        chat.enter("Tell me a story.")
        chat.wait_for(r"^>>> Tell.*\n.*\w+ \w+")
        chat.type("typed ahead")
        chat.wait_for_line(">>> typed ahead")
        self.assertEqual(chat.screen().count("typed ahead"), 1)

    def test_answers_go_down_a_pipe_while_lines_are_edited(self):
        answers = self.home / "answers"
        chat = Terminal(["sh", "-c", f"{BINARY} chat {MODEL} --temp 0 -n 4 >{answers}"],
                        env={"HOME": str(self.home)})
        self.addCleanup(chat.__exit__)
        chat.wait_for_line(PROMPT)
        chat.type("helo", "Left")
        chat.type("l", "Enter")
        chat.wait_for(STATUS)
        self.assertIn(">>> hello", chat.screen())
        self.assertRegex(answers.read_text(), r"^.+\n$")


class Pipes(Chat):
    FLAGS = ["chat", MODEL, "--temp", "0", "-n", "4"]

    def test_lines_in_and_answers_out_and_nothing_else(self):
        done = call(*self.FLAGS, stdin="hello\n\nhello \\\nyou\n/stats\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.assertNotIn(PROMPT, done.stdout + done.stderr)
        self.assertNotIn("\x1b", done.stdout + done.stderr)
        self.assertIn("in 4 messages", done.stderr)

    def test_a_wrong_command_is_the_exit_status(self):
        done = call(*self.FLAGS, stdin="/load nowhere.json\nhello\n")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stdout.splitlines()), 1)

    def test_a_closed_pipe_ends_it_silently(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([BINARY, *self.FLAGS], input="hello\n", stdout=write,
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=TIMEOUT_S,
                              env=environment())
        os.close(write)
        self.assertIn(done.returncode, (141, -signal.SIGPIPE))
        self.assertEqual(done.stderr, "")

    def test_a_full_disk_keeps_the_old_file(self):
        saved = self.home / "chat.json"
        call(*self.FLAGS, stdin=f"hello\n/save {saved}\n")
        before = saved.read_text()

        def no_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        done = subprocess.run([BINARY, *self.FLAGS], input=f"hello\n/save {saved}\n",
                              capture_output=True, encoding="utf-8", timeout=TIMEOUT_S,
                              env=environment(), preexec_fn=no_room)
        self.assertEqual(done.returncode, 3)
        self.assertIn("make room", done.stderr)
        self.assertEqual(saved.read_text(), before)
        self.assertEqual(len(list(self.home.iterdir())), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
