// Package compose reads and runs Compose projects.
//
// # Reading
//
// A Source says which services there are, what they run and are built from, which ports they publish, and from which files
// all of that was read. Files are read in process, with the library that Docker Compose itself is made of, rather than by running "docker
// compose config": that takes milliseconds instead of hundreds of them, needs no Docker on the machine, tells every file
// that was read, and says in which line a mistake is. A command that TILT_DOCKER_COMPOSE_CMD names is not asked either:
// it is for running services. The rules are those of the command line with files named by -f: an override file beside
// them is not taken by itself, variables come from the environment first and from .env second. Whoever runs the services
// passes the same files, names and profiles to the command that the user has.
//
// Values of variables may be passwords. None is put into an error or a warning.
//
// # Running
//
// A Runner starts services and takes them down. The real one, Tool, is Docker Compose's own program, so that services run as
// they do without hone; what differs, such as the image that hone has built, goes to it as one more Compose file. What
// containers there are, and how they do, is asked of the engine, by the labels that Compose gives them.
//
// # Concurrency
//
// Everything runs on the caller's goroutine. A Source is used by one goroutine; any number of them may be read at once. A
// Runner may be used by several goroutines; of those that make something in one project, one runs at a time.
package compose
