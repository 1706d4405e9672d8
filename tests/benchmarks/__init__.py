"""Benchmarks: ratios and times of one run beside the bars of the issue; nothing is asserted on time."""
