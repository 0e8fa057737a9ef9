// Package tunnel carries connections to the sessions of another machine through the user's own ssh.
//
// One ssh runs hone relay on the other machine, and its standard streams carry everything: a line that names the relay and its version,
// and then HTTP/2, where each connection is a request whose body goes there and whose answer comes back. So one process on each side
// serves any number of connections, with flow control for each. Neither side has a socket, a port or a file for it, and all of it
// ends with ssh.
//
// # Concurrency
//
// A Tunnel may be used by several goroutines at once. It has one goroutine that runs ssh, and HTTP/2 has its own; Close ends them.
package tunnel
