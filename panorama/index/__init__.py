"""Embedding models and vector indexes.

numpy's products run on one thread (a person's own setting comes first): for our sizes a second one gains a tenth of a
millisecond, but waits for a core that the embedder holds, and a search of 0.3 ms then takes 16 ms.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # is read when numpy is first imported, which is later than this
