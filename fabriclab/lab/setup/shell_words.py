"""Which programs a command of a node starts, as far as its words say so: its first word, and of a shell's script the
words that stand where a shell looks for a command.

A script is read no further than a here-document or a `case`, and a word with a variable names no program: what is not
known is not told.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

SHELLS = ("sh", "bash", "ash", "dash", "zsh")
_PUNCTUATION = ";&|()<>\n"
_NAME = re.compile(r"[A-Za-z0-9_./+-]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_BUILT_IN = frozenset(
    (
        *(
            ":",
            ".",
            "[",
            "[[",
            "alias",
            "bg",
            "break",
            "builtin",
            "cd",
            "continue",
            "declare",
            "dirs",
            "disown",
            "echo",
        ),
        *("enable", "eval", "exit", "export", "false", "fg", "getopts", "hash", "help", "history", "jobs", "kill"),
        *("let", "local", "logout", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readonly", "return", "set"),
        *("shift", "shopt", "source", "suspend", "test", "times", "trap", "true", "type", "typeset", "ulimit", "umask"),
        *("unalias", "unset", "wait"),
    )
)
_BEFORE_COMMAND = (
    *("if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "fi", "done"),
    *("time", "exec", "command"),
)
"""Words after which a shell looks for a command, as it does at the beginning of a line."""
_UNREADABLE = ("case", "esac", "select", "function")
_HERE = "<<"
_TEST, _END_OF_TEST = "[[", "]]"
"""In what stands between them `&&` ends no command. The lexer makes two words of each."""
_ASKS = ("-v", "-V")
"""Behind `command`: it only says whether there is such a program."""
_CONTINUED = re.compile(r"\\\r?\n")
"""A line that goes on in the next one."""


def programs_of(argv: Sequence[str]) -> list[str]:
    """Return the programs that a command starts, by name or path, each once."""
    if not argv:
        return []
    text = shell_text(argv)
    return list(dict.fromkeys([argv[0], *([] if text is None else programs_of_script(text))]))


def shell_text(argv: Sequence[str]) -> str | None:
    """Return the script that a shell is given as a word; None where there is none."""
    if argv[0].rpartition("/")[2] not in SHELLS:
        return None
    for number, word in enumerate(argv[1:], 1):
        if not word.startswith("-"):
            return None
        if not word.startswith("--") and "c" in word:
            return argv[number + 1] if number + 1 < len(argv) else None
    return None


def programs_of_script(text: str) -> list[str]:
    """Return the programs that a script starts, as far as it can be read, each once."""
    found: list[str] = []
    own: set[str] = set()
    try:
        for word, following in _commands(text):
            if following == "()":
                own.add(word)
            elif _NAME.fullmatch(word) is not None and word not in _BUILT_IN:
                found.append(word)
    except ValueError:
        pass  # A quote without an end: what was found before it stands.
    return [word for word in dict.fromkeys(found) if word not in own]


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word that stands where a command does, with the word after it."""
    lexer = shlex.shlex(_CONTINUED.sub(" ", text), posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.commenters = " \t\r", ""
    words = list(_without_comments(lexer))
    at_command, redirected, in_test = True, False, False
    for word, following in zip(words, [*words[1:], "\n"], strict=True):
        if word.startswith(_HERE):
            return
        if in_test or (at_command and word + following == _TEST):
            in_test, at_command = word + following != _END_OF_TEST, False
        elif set(word) <= set(_PUNCTUATION):
            redirected = any(letter in "<>" for letter in word)
            # Behind what a command prints, `$(...)`, its line goes on.
            at_command = at_command if redirected else word == "()" or not word.endswith(")")
        elif redirected:
            redirected = False
        elif at_command and word in _UNREADABLE:
            return
        elif at_command and (word == "for" or word in _ASKS):
            at_command = False
        elif at_command and not (_ASSIGNMENT.fullmatch(word) or word in _BEFORE_COMMAND or word.isdigit()):
            yield word, following
            at_command = False


def _without_comments(words: Iterator[str]) -> Iterator[str]:
    """Yield the words, and of a comment its newline alone."""
    is_comment = False
    for word in words:
        is_comment = (is_comment or word.startswith("#")) and "\n" not in word
        if not (is_comment or word.startswith("#")):
            yield word
