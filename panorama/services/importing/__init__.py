"""Import of folders of Markdown and other files."""
