// Streams that stay open take connections, of which a browser opens six to a server (HTTP/1.1), for all of its tabs together. Only a few
// tabs stream, so that there are always connections left for requests; further ones ask once a second.

/** How many streams all tabs of a browser keep open. */
const slots = 3;
/** The pause between two requests of a tab without a slot, in milliseconds. */
export const pollEvery = 1000;

/** Takes a slot, and returns what frees it; undefined if all are taken. A closed tab frees its slots. */
export async function slot(): Promise<(() => void) | undefined> {
  const locks = navigator.locks as LockManager | undefined; // absent without TLS on another machine
  if (!locks) return () => undefined;
  for (let i = 0; i < slots; i++) {
    const free = await new Promise<(() => void) | undefined>((done) => {
      void locks.request(`hone.stream.${i}`, { ifAvailable: true }, (lock) => {
        if (lock) return new Promise<void>((released) => done(released));
        done(undefined);
        return undefined;
      });
    });
    if (free) return free;
  }
  return undefined;
}
