"""Regularisers: what is learnt or held beside the objective. Each stands around `fit.learner.Learner`, or another."""
