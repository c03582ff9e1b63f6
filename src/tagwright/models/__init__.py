"""Networks: encoders, heads, embeddings, and how one is built."""
