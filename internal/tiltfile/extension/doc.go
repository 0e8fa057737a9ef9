// Package extension finds what load('ext://NAME', …) means and brings it to this machine.
//
// The extensions that most Tiltfiles use are part of hone: they are embedded, need no network, and are the same for
// everybody who runs the same hone. Any other name is a folder of an extension repository: the public one, or those that
// the Tiltfile declares. A Registry knows the repositories and extensions of one evaluation and tells which folder of
// which repository a name stands for. A Store holds copies of repositories on disk.
//
// # The store
//
// A repository is fetched with git when a name of it is asked for the first time, and never again unless the user asks
// (Refresh). The copy is pinned: the commit that the reference meant is recorded beside it, and copies are stored by
// commit, so that what an evaluation reads never changes under it. Repositories with a file:// address are used where
// they are and are not copied.
//
// # Concurrency
//
// A Registry belongs to one goroutine. A Store may be used by any number of goroutines and processes at once: a lock
// file lets one of them fetch, copies come into place by renaming, and what is in place is only read. The one goroutine
// that a fetch starts, which ends a git that has gone silent, has ended when the call returns, and so has git.
package extension
