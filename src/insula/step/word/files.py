"""Which files hold code, by their endings."""

import re

_CODE = re.compile(
    r"\.(?:py|pyi|[cm]?[jt]sx?|rs|go|java|kt|kts|scala|rb|php|c|cc|cpp|h|hpp|cs|swift|m|ex|exs|erl|hs|lua|dart|sql|vue|svelte|css|scss|html|sh|tf|proto|graphql)$"
)


def is_code(path: str) -> bool:
    """Whether a file holds code, by its ending."""
    return _CODE.search(path.lower()) is not None
