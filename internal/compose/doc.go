// Package compose reads Compose projects: which services there are, what they run and are built from, which ports they
// publish, and from which files all of that was read. It runs nothing.
//
// Files are read in process, with the library that Docker Compose itself is made of, rather than by running "docker
// compose config": that takes milliseconds instead of hundreds of them, needs no Docker on the machine, tells every file
// that was read, and says in which line a mistake is. A command that TILT_DOCKER_COMPOSE_CMD names is not asked either:
// it is for running services. The rules are those of the command line with files named by -f: an override file beside
// them is not taken by itself, variables come from the environment first and from .env second. Whoever runs the services
// passes the same files, names and profiles to the command that the user has.
//
// Values of variables may be passwords. None is put into an error or a warning.
//
// # Concurrency
//
// Everything runs on the caller's goroutine. A Source is used by one goroutine; any number of them may be read at once.
package compose
