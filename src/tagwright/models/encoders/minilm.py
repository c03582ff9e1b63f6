"""MiniLM (all-MiniLM-L6-v2, 23M weights): `pretrained` by name, quick on a CPU; the extra `minilm`
carries it.
"""

from tagwright.models.encoders._named import named

PART = named("minilm")
