"""Random search over the paper's ranges: resumable, and shared by processes."""

from spam_core.search.result import SearchResult, Trial
from spam_core.search.run import missing_package, search
from spam_core.search.space import SPACES, Choice, Range, make_space, parse_setting

__all__ = [
    "SPACES",
    "Choice",
    "Range",
    "SearchResult",
    "Trial",
    "make_space",
    "missing_package",
    "parse_setting",
    "search",
]
