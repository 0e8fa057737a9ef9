// Package extension resolves load('ext://NAME', …) to an extension, and fetches it if necessary.
//
// The extensions that most Tiltfiles use are part of hone: they are embedded, need no network, and are the same in
// every copy of a hone version. Any other name is a folder of an extension repository: the public one, or one that the
// Tiltfile declares. A Registry holds the repositories and extensions of one evaluation, and resolves a name to a
// folder of a repository. A Store holds copies of repositories on disk.
//
// # The store
//
// A repository is fetched with git when one of its names is first requested, and never again unless the user requests
// it (Refresh). The copy is pinned: the commit of the reference is recorded next to it, and copies are stored by
// commit, so the files never change while an evaluation reads them. Repositories with a file:// address are used in
// place and are not copied.
//
// # Concurrency
//
// A Registry belongs to one goroutine. A Store may be used by any number of goroutines and processes at once: a lock
// file lets one of them fetch, copies are renamed into place, and from then on are only read. A fetch starts one
// goroutine, which stops git when git makes no progress; both have ended when the call returns.
package extension
