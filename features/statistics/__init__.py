"""Statistics of the training split: partial results of batches, merged in any order.

`analyse` a batch, `merge` what several batches say about one thing, `finish` the whole.
"""

from features.statistics.analysis import Partial, analyse, merge, merge_all
from features.statistics.finish import finish
from features.statistics.learnt import Statistics

__all__ = ["Partial", "Statistics", "analyse", "finish", "merge", "merge_all"]
