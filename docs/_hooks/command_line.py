"""The reference of the command line, from the commands themselves.

Typer brings a Click of its own since some version and keeps types elsewhere since another. So only
the attributes are used that commands and their parameters have always had; the types are taken from
the annotations of the functions behind the commands.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from markdown_text import cell, table

from testsgd.cli.main import COMMANDS, app, load_command

_DEFAULT_IN_HELP = re.compile(r"\s*\(default: (?P<text>[^)]*)\)\s*$")

_TYPES = {str: "text", int: "whole number", float: "number", Path: "path", bool: ""}


def reference() -> str:
    """Write a section for each command."""
    return "\n\n".join(_section(name, command) for name, command in _commands())


def _commands() -> Iterator[tuple[str, Any]]:
    """Walk over the commands, groups before what is in them."""
    root = typer.main.get_command(app)
    root.commands = {name: load_command(name) for name in COMMANDS}
    waiting = [("testsgd", root)]
    while waiting:
        name, command = waiting.pop(0)
        yield name, command
        inner = getattr(command, "commands", {})
        waiting = [
            (f"{name} {key}", inner[key]) for key in inner if not inner[key].hidden
        ] + waiting


def _section(name: str, command: Any) -> str:
    arguments = [item for item in command.params if item.param_type_name == "argument"]
    options = [
        item
        for item in command.params
        # Those that every command has are not exposed to it, and stand before the tables.
        if item.param_type_name == "option" and not item.hidden and item.expose_value
    ]
    inner = getattr(command, "commands", {})
    usage = [name, *(_argument_name(item) for item in arguments)]
    usage += ["[OPTIONS]"] if options else []
    usage += ["COMMAND"] if inner else []
    blocks = [f"## {name}", f"```text\n{' '.join(usage)}\n```", (command.help or "").strip()]
    if arguments:
        rows = [[f"`{_argument_name(item)}`", cell(item.help or "")] for item in arguments]
        blocks.append(table(["Argument", "Meaning"], rows))
    if options:
        headings = ["Option", "Value", "Default", "Meaning"]
        annotations = typing.get_type_hints(command.callback)
        rows = [_option(item, annotations[item.name]) for item in options]
        blocks.append(table(headings, rows))
    if inner:
        rows = [
            [f"[`{name} {key}`](#{'-'.join([*name.split(), key])})", cell(_first_line(value))]
            for key, value in inner.items()
            if not value.hidden
        ]
        blocks.append(table(["Command", "What it does"], rows))
    return "\n\n".join(block for block in blocks if block)


def _argument_name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper()).strip("{}[]")


def _option(option: Any, annotation: Any) -> list[str]:
    help_text = option.help or ""
    default = "" if option.default is None or option.is_flag else f"`{option.default}`"
    if match := _DEFAULT_IN_HELP.search(help_text):
        default, help_text = cell(match["text"]), help_text[: match.start()]
    names = ", ".join(f"`{name}`" for name in option.opts)
    return [names, _type(annotation), default, cell(help_text)]


def _type(annotation: Any) -> str:
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        inner = [part for part in typing.get_args(annotation) if part is not types.NoneType]
        return " or ".join(_type(part) for part in inner)
    if typing.get_origin(annotation) is list:
        return f"{_type(typing.get_args(annotation)[0])}, repeatable"
    if typing.get_origin(annotation) is typing.Literal:
        return ", ".join(f"`{choice}`" for choice in typing.get_args(annotation))
    return _TYPES.get(annotation, str(annotation))


def _first_line(command: Any) -> str:
    text: str = command.help or ""
    return text.strip().split("\n")[0]
