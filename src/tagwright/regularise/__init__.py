"""Regularisers: what is learnt or held beside the objective. Each stands around `fit.learner.Learner`, or another."""

from tagwright.parts import Kind


def _sections() -> frozenset[str]:
    from tagwright.sections import PART_SECTIONS, PLAIN_SECTIONS

    return frozenset({*PART_SECTIONS, *PLAIN_SECTIONS, "objective"})


KIND = Kind(
    title="regulariser",
    facts={
        "learn": "what it stands around: a function of a batch and a generator that gives an Outcome",
        "network": "the network that is trained",
        "objective": "the objective of a batch",
        "link": "how the loss makes probabilities of logits",
        "tag_link": "the same of the head for tokens beside one for texts, or None",
    },
    reserved=_sections,  # a regulariser is a section of its own
)
