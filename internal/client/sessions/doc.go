// Package sessions is the registry of the sessions that run on this machine: their names, sockets, tokens and certificates,
// and which of them are still alive. It also keeps information about the projects that sessions have run.
//
// A session has several files, all named after it and readable only by its owner: NAME.json describes it (Info, no secrets),
// NAME.sock is the socket of its API, and NAME.token and NAME.kubeconfig are the credentials for the same API on a TCP port.
// NAME.crash receives the output of the Go runtime if the session crashes.
// NAME.lock is locked for as long as the session is alive. The kernel releases the lock however the session ends, so whether a
// session is alive is known, not guessed. The files of a killed session are removed by the next process that reads the
// registry.
//
// # Concurrency
//
// The package starts no goroutines. Processes take turns by a lock on the folder, which is held only briefly.
package sessions
