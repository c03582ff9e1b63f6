"""Heads: hidden vectors in, logits out."""

from tagwright.parts import Kind

KIND = Kind(
    title="head",
    facts={
        "width": "the width of the encoder's answer",
        "sparse": "whether the encoder's answer is sparse rows",
        "whole_texts": "whether the encoder has no states of tokens",
        "label_count": "how many labels there are",
        "label_names": "the names of the labels",
        "bias": "where the labels' logits start, (L,)",
        "extra_logits": "how many logits the loss wants beside those of the labels",
        "zero": "the loss's threshold: logits above it speak for a label",
        "link": "how the loss makes probabilities of logits",
        "reads_slots": "whether the encoder reads slots before a text",
        "slot_room": "how many positions slots may take; None: any number",
        "family": "the kind of pretrained model that the encoder is",
        "word_width": "the width of the encoder's word vectors, or None",
        "name_vectors": "vectors of the labels' names (L, E), or None",
    },
)
