# made by `make stubs`; a test holds it current
from tagwright.losses.bce import BinaryCrossEntropyLoss as BinaryCrossEntropyLoss
from tagwright.losses.bce import bce as bce
from tagwright.losses.cross_entropy import CrossEntropyLoss as CrossEntropyLoss
from tagwright.losses.cross_entropy import cross_entropy as cross_entropy
from tagwright.losses.zlpr import ZLPRLoss as ZLPRLoss
from tagwright.losses.zlpr import zlpr as zlpr
