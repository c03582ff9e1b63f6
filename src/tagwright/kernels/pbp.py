"""`pbp` on a GPU."""

from tagwright.kernels._entry import SoftmaxKernel

PART = SoftmaxKernel(predicted_only=True)
