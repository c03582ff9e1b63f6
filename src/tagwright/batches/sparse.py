from tagwright.heads._sparse_linear import SparseRows  # noqa
