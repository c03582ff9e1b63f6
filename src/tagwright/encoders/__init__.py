"""Tokens to hidden vectors: one file, one encoder."""

from tagwright.parts import Kind

KIND = Kind(
    title="encoder",
    facts={
        "sizes": "how many ids each channel of the tokens has",
        "learned": "the arrays that the encoder's `learn` made of the training texts",
        "vectors": "given word vectors (sizes[0], D), or None",
        "fresh": "whether weights start from their source; else they are loaded afterwards",
        "precision": "what to compute in: auto, float32 or bfloat16",
        "limit": "how many tokens of a text are read",
    },
)
