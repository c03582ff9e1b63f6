"""What losses, their kernels and the chunked label matrix share: checks, sparse targets, blocks of
rows, sums.
"""
