"""``doiuri check``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from doiuri_cli._run import Run, contents_of
from doiuri_cli.commands._options import (
    FileOptions,
    code_options,
    config_options,
    file_options,
    lock_options,
    make_config,
    registry_options,
)
from doiuri_cli.output import Counts, Report
from doiuri_cli.rules import RULES, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri_cli._config import Config
    from doiuri_cli._run import Result
    from doiuri_cli.files._select import Selection
    from doiuri_cli.registry._lock import Lock
    from doiuri_cli.rules import Finding
