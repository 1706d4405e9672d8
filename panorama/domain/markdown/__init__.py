"""Markdown: its lines, front matter, links and tasks."""
