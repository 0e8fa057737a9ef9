// Package compose reads and runs Compose projects.
//
// # Reading
//
// A Source returns the services of a project with their commands, images and builds, their published ports, and the files from
// which all of that was read. It reads the files in process, with the library that Docker Compose itself uses, instead of running
// "docker compose config": that takes milliseconds instead of hundreds of them, needs no Docker on the machine, reports every file
// that was read, and gives the line of an error. The command that TILT_DOCKER_COMPOSE_CMD names only runs services; it does not
// read the files. As on the command line with files named by -f, an override file next to them is not read automatically, and
// variables come first from the environment and then from .env. A Runner passes the same files, names and profiles to the user's
// Docker Compose.
//
// Values of variables may be passwords. Errors and warnings never contain them.
//
// # Running
//
// A Runner starts services and takes them down. The real one, Tool, runs Docker Compose's own program, so that services
// run as they do without hone. Differences, such as the image that hone has built, are passed to it as an additional
// Compose file. The containers and their states are read from the engine, by the labels that Compose sets.
//
// # Concurrency
//
// Everything runs on the caller's goroutine. A Source must be used by one goroutine at a time; different Sources are
// independent. A Runner may be used by several goroutines; calls that create or remove something in the same project
// run one at a time.
package compose
