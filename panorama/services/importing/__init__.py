"""Import of folders of Markdown and other files, and the names that copied items have in other systems."""
