"""Many runs and what they come to: recipes, plans, runs, ledgers, comparisons."""
