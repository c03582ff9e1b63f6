"""MPNet (all-mpnet-base-v2, 109M weights): `pretrained` by name, of BERT-base size."""

from tagwright.models.encoders._named import named

PART = named("mpnet")
