"""How fast CashCode is, as ratios: every goal is measured against a bare client or a smaller case in the same run.

`python -m benchmarks` prints the table. Times of one machine mean nothing on another, and little on the same one an
hour later, so what is compared is always interleaved. What never flakes (counts, order, bytes, imports) gates in
`tests/benchmarks`.
"""
