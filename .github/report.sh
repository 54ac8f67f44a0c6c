#!/usr/bin/env bash
# Tell of a scheduled run that failed: in the open issue of that title, or in a new one.
# GH_TOKEN, GH_REPO, TITLE and RUN come from the workflow, and perhaps DETAILS.
set -euo pipefail
open=$(gh issue list --state open --limit 200 --json number,title \
  --jq "map(select(.title == env.TITLE)) | .[0].number // empty")
body="${DETAILS:+$DETAILS$'\n\n'}The log says what failed: $RUN"
if [ -n "$open" ]; then
  gh issue comment "$open" --body "$body"
else
  gh issue create --title "$TITLE" --body "$body"
fi
