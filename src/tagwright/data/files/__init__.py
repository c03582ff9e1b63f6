"""Files that hold data: opened safely, bounded, searched for faults. `readers/` knows formats."""
