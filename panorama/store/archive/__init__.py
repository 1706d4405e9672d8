"""Files of backups and exports, and the deletion of what has expired."""
