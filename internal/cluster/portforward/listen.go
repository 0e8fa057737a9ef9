package portforward

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Opener opens local ports.
type Opener struct {
	// Session returns the name of the hone session that runs as the given process, or "" if it is another process, so
	// that a problem can state how to end it. It may be nil.
	Session func(pid int) string
}

// Listen opens a local TCP port. The host is a name or address of this machine; "" and "localhost" listen on both
// loopback addresses, so that it does not matter to which one a client resolves "localhost". Port 0 takes any free port
// of one address.
//
// Errors that the user can fix are a *problem.Problem: a port that is in use (with the process that holds it, if
// known), a port that needs privileges, an address that does not belong to this machine.
func (o Opener) Listen(host string, port int) (net.Listener, error) {
	if host != "" && host != "localhost" {
		return o.listen(host, host, port)
	}
	first, err := o.listen("localhost", "127.0.0.1", port)
	if err != nil {
		return nil, err
	}
	if port == 0 {
		return first, nil
	}
	second, err := net.Listen("tcp", net.JoinHostPort("::1", strconv.Itoa(port)))
	switch {
	case err == nil:
		return newDual(first, second), nil
	case errors.Is(err, syscall.EADDRINUSE):
		_ = first.Close()
		return nil, o.explain(err, "localhost", port)
	}
	return first, nil // this machine has no IPv6
}

func (o Opener) listen(shown, host string, port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, o.explain(err, shown, port)
	}
	return l, nil
}

// explain turns the error of opening a port into a problem with a mend.
func (o Opener) explain(err error, host string, port int) error {
	where := net.JoinHostPort(host, strconv.Itoa(port))
	other := fmt.Sprintf(`give the port-forward another local port in the Tiltfile: port_forwards="%d:CONTAINER_PORT"`, otherPort(port))
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		holder, known := findHolder("/proc", port)
		if !known {
			return problem.Wrap(err, fmt.Sprintf("port %s is in use by another process", where), other).See("troubleshooting")
		}
		if o.Session != nil && holder.pid != 0 && holder.pid != os.Getpid() {
			holder.session = o.Session(holder.pid)
		}
		return problem.Wrap(err, fmt.Sprintf("port %s is in use by %s", where, holder), holder.mend()+other).See("troubleshooting")
	case errors.Is(err, syscall.EACCES):
		return problem.Wrap(err, fmt.Sprintf("port %s needs privileges", where), other)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &dns):
		return problem.Wrap(err, fmt.Sprintf("cannot listen on %s", where),
			"name an address of this machine in the port-forward's host, or leave it out for localhost")
	}
	return fmt.Errorf("listen on %s: %w", where, err)
}

// otherPort proposes a local port.
func otherPort(port int) int {
	if port < 1024 {
		return port + 8000
	}
	if port == 65535 {
		return 65534
	}
	return port + 1
}

// dual combines two listeners into one.
type dual struct {
	listeners [2]net.Listener
	accepted  chan accepted
	closed    chan struct{}
	once      sync.Once
	err       error // of Close
	wg        sync.WaitGroup
}

type accepted struct {
	conn net.Conn
	err  error
}

func newDual(a, b net.Listener) *dual {
	d := &dual{listeners: [2]net.Listener{a, b}, accepted: make(chan accepted), closed: make(chan struct{})}
	for _, l := range d.listeners {
		d.wg.Go(func() { d.accept(l) })
	}
	return d
}

func (d *dual) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		select {
		case d.accepted <- accepted{conn, err}:
		case <-d.closed:
			if conn != nil {
				_ = conn.Close()
			}
			return
		}
	}
}

// Accept waits for the next connection of either listener.
func (d *dual) Accept() (net.Conn, error) {
	select {
	case a := <-d.accepted:
		return a.conn, a.err
	case <-d.closed:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: d.Addr(), Err: net.ErrClosed}
	}
}

// Close closes both listeners and waits for their goroutines.
func (d *dual) Close() error {
	d.once.Do(func() {
		close(d.closed)
		d.err = errors.Join(d.listeners[0].Close(), d.listeners[1].Close())
	})
	d.wg.Wait()
	return d.err
}

// Addr returns the IPv4 address.
func (d *dual) Addr() net.Addr { return d.listeners[0].Addr() }

var _ net.Listener = (*dual)(nil)
