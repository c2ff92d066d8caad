"""Comments a Markdown report on the pull request of the event; a later run rewrites its comment."""

import json
import os
import sys
import urllib.error
import urllib.request

MARK = "<!-- rockhound -->"
# The longest comment that GitHub takes has 65,536 characters.
MOST = 60_000
PAGES = 20


def call(method, path, body=None):
    request = urllib.request.Request(
        os.environ.get("GITHUB_API_URL", "https://api.github.com") + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": "Bearer " + os.environ.get("GITHUB_TOKEN", ""),
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def number():
    """Number of the pull request; None for other events."""
    try:
        with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
            event = json.load(file)
    except (KeyError, OSError, ValueError):
        return None
    return (event.get("pull_request") or {}).get("number")


def own(comments):
    """The comment of an earlier run, on any page."""
    for page in range(1, PAGES + 1):
        list_of_page = call("GET", f"{comments}?per_page=100&page={page}")
        for comment in list_of_page:
            if comment.get("body", "").startswith(MARK):
                return comment["id"]
        if len(list_of_page) < 100:
            return None
    return None


def main():
    pull = number()
    if pull is None:
        print("::notice title=Rockhound::no comment: the event has no pull request")
        return
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    if len(text) > MOST:
        text = text[:MOST].rsplit("\n", 1)[0] + "\n\nThe rest is in the summary of the job."
    repository = "/repos/" + os.environ["GITHUB_REPOSITORY"]
    comments = f"{repository}/issues/{pull}/comments"
    body = {"body": f"{MARK}\n{text}"}
    try:
        known = own(comments)
        if known is None:
            call("POST", comments, body)
        else:
            call("PATCH", f"{repository}/issues/comments/{known}", body)
    except (urllib.error.URLError, OSError, ValueError) as error:
        # The token of a pull request from a fork may only read; the report is in the summary too.
        print(f"::warning title=Rockhound::the report is not commented: {error}")


if __name__ == "__main__":
    main()
