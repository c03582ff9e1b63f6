"""`pbp` on a GPU."""

from tagwright.kernels._entry import Softmax

PART = Softmax(predicted_only=True)
