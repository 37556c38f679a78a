"""What the command line calls an option is a keyword argument here: errors name it so."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from ..errors import DataError, RecipeError

OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?![\w-])")
# option -> keyword argument, where that is not its name with "_"
OTHERWISE = {"model": "models"}


@contextmanager
def in_python(keywords: Collection[str]) -> Iterator[None]:
    """Errors within name options as keyword arguments: "--word-lists" is word_lists.

    Args:
        keywords: the arguments that there are; other options stay as they are.
    """

    def named(option: re.Match[str]) -> str:
        keyword = OTHERWISE.get(option[1], option[1].replace("-", "_"))
        return keyword if keyword in keywords else option[0]

    try:
        yield
    except (DataError, RecipeError) as error:
        # errors of more than a text are made elsewhere and speak of files
        if type(error) not in (DataError, RecipeError):
            raise
        raise type(error)(OPTION.sub(named, str(error))) from error.__cause__
