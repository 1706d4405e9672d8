"""Markdown: lines, front matter, links and tasks."""
