"""Impression logs of any size whose attainable AUC is known.

`python -m pipeline generate` writes one. The same kind, rows and seed give the same bytes. A log is
made of blocks of `BLOCK_ROWS` rows; each block has its own random stream, so memory stays bounded
and blocks may be drawn in any order by any number of threads.
"""
