// Package sessions is the registry of the sessions that run on this machine: their names, sockets, tokens and certificates,
// and which of them still live; and what is known of the projects that sessions have run.
//
// A session has a folder's worth of files, all called by its name and readable by its owner only: NAME.json says what it
// is (Info, no secrets), NAME.sock is where its API answers, NAME.token and NAME.kubeconfig are the keys to the same API on
// a TCP port. NAME.lock is locked for as long as the session lives: the kernel lets go of it whatever happens, so whether a
// session lives is known, not guessed. What a killed session left is removed by the next that looks.
//
// # Concurrency
//
// There are no goroutines. Processes take turns by a lock on the folder, which is held for an instant at a time.
package sessions
