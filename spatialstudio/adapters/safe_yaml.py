"""Parsing of untrusted YAML."""

from typing import Any

import yaml  # type: ignore[import-untyped]

MOST_LEVELS = 16


def parse_yaml(text: str) -> Any:
    """Parse YAML without aliases, which a few lines can expand a billion times.

    Raises:
        ValueError: It is not YAML, has aliases, is nested deeply, or holds an invalid number or
            date.
        RecursionError: It is nested too deeply for the parser.
    """
    depth = 0
    try:
        for event in yaml.parse(text, yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > MOST_LEVELS:
                raise ValueError("aliases, or nested too deeply")
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
