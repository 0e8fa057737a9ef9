// Package commandcontroller runs the commands that the Tiltfile declares beside all resources: at once, or when a button
// is clicked, and again when what restarts them happens.
//
// # Concurrency
//
// Run owns one worker per command, which owns the command's process and its prober and runs one at a time. Runs of
// different commands never wait for each other. When Run returns, all workers and processes have ended.
package commandcontroller
