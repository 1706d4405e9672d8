"""The limits that the kernel enforces on a worker."""
