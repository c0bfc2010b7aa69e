// A page that a browser opens from the disk may not fetch others: the search then lists pages without excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
