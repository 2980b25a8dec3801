"""What keeps secrets in and paths inside."""
