"""Which heads give shortlists."""

import pytest

from tagwright.models.shortlist import FULL, shortlisted
from tagwright.settings.schema import resolve


@pytest.mark.parametrize(
    ("chunk", "labels", "expected"), [(0, 10**6, False), (8, FULL, False), (8, FULL + 1, True)]
)
def test_shortlists_are_for_chunked_heads_of_very_many_labels(chunk, labels, expected):
    assert shortlisted(resolve({"head": {"chunk": chunk}}).head, labels) is expected
