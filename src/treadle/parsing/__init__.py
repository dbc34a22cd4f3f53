"""Reading model replies: pure functions, tried hard."""
