"""Pictures of a state: grey frames for policies, RGB for people, windows and videos."""
