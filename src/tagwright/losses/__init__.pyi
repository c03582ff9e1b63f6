# made by `make stubs`; a test holds it current
from tagwright.losses.bce import BinaryCrossEntropyLoss as BinaryCrossEntropyLoss, bce as bce
from tagwright.losses.cross_entropy import CrossEntropyLoss as CrossEntropyLoss, cross_entropy as cross_entropy
from tagwright.losses.squared_hinge import SquaredHingeLoss as SquaredHingeLoss, squared_hinge as squared_hinge
from tagwright.losses.zlpr import ZLPRLoss as ZLPRLoss, zlpr as zlpr
