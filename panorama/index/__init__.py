"""Embedding models and vector indexes.

numpy uses one thread (unless the user set another number): for our sizes a second one gains a tenth of a millisecond,
but waits for a core held by the embedder, and a search of 0.3 ms then takes 16 ms.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # is read when numpy is first imported, which is later than this
