"""The page in a real browser: Debian's Chromium, driven by Playwright, and a real daemon."""
