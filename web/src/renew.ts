// Reloads the page when its bundle has been rebuilt, for work on it: make web-dev. Other bundles do not contain this.

/** Set by the build. */
declare const RENEWS: boolean;

export function renew() {
  if (!RENEWS) return;
  let last = "";
  setInterval(() => {
    if (document.hidden) return;
    void fetch("/stamp.txt")
      .then((resp) => (resp.ok ? resp.text() : last))
      .then((stamp) => {
        if (last && stamp !== last) location.reload();
        last = stamp;
      })
      .catch(() => undefined);
  }, 250);
}
