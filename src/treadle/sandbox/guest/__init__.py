"""What runs inside a sandbox: files that need the standard library only and import each other as siblings."""
