// Package attackers holds clients that attack a session: strangers, floods, and connections that are never read from. It
// only attacks, and checks the answers; the tests of the server and the benchmark choose the session.
//
// An attack's goroutines belong to the call that started it, which waits for them, or to its release.
package attackers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// Target is the session that an attack is directed at.
type Target struct {
	// Address is the host and the port that it listens on.
	Address string
	// Token is the token of its owner: some attacks are authenticated.
	Token string
	// Secret is a word in every answer that shows the session.
	Secret string
	// Resource is the name of one of its resources.
	Resource string
}

// Attack is one kind of attack. Exactly one of Once and Hold is set.
type Attack struct {
	Name string
	// Once attacks once and returns, as one error, everything that was served although it must not be. The end of ctx
	// ends the attack and is not an error.
	Once func(ctx context.Context, s Target) error
	// Hold opens connections and keeps them until release is called. Fewer connections than were tried are not an error.
	Hold func(ctx context.Context, s Target) (release func(), err error)
}

// Attacks are all attacks.
var Attacks = []Attack{
	{Name: "strangers", Once: Strangers},
	{Name: "path tricks", Once: PathTricks},
	{Name: "malformed requests", Once: Malformed},
	{Name: "malformed patches", Once: Patches},
	{Name: "bodies of 1 GB", Once: EndlessBodies},
	{Name: "slow requests", Once: SlowRequests},
	{Name: "idle connections", Hold: IdleConnections(Idle)},
	{Name: "watchers that never read", Hold: DeadWatchers},
	{Name: "answers that are never read", Hold: DeadReaders},
}

const (
	// answerTimeout is the time in which a session must refuse a request; that for its headers is 5 s.
	answerTimeout = 20 * time.Second
	// dialTimeout is the time in which the machine must accept a connection.
	dialTimeout = 10 * time.Second
)

// dial opens a connection that is closed when ctx ends, at the latest. The caller closes it.
func (s Target) dial(ctx context.Context) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", s.Address)
	if err != nil {
		return nil, err
	}
	return &ending{Conn: c, forget: context.AfterFunc(ctx, func() { _ = c.Close() })}, nil
}

// ending is a connection that ends with a context.
type ending struct {
	net.Conn
	forget func() bool
}

// Close implements io.Closer.
func (e *ending) Close() error {
	e.forget()
	return e.Conn.Close()
}

// owner returns the header by which a session recognizes its owner.
func (s Target) owner() string { return "Authorization: Bearer " + s.Token + "\r\n" }

// raw sends bytes unchanged and returns the status code and the whole answer, up to 1 MB. If the connection breaks, it returns the
// bytes that have arrived.
func (s Target) raw(ctx context.Context, request string) (code, answer string, err error) {
	c, err := s.dial(ctx)
	if err != nil {
		return "", "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(answerTimeout))
	var writing sync.WaitGroup
	writing.Go(func() { _, _ = io.WriteString(c, request) })
	b, err := io.ReadAll(io.LimitReader(c, 1<<20))
	_ = c.Close()
	writing.Wait()
	_, after, _ := strings.Cut(string(b), " ")
	code, _, _ = strings.Cut(after, " ")
	return code, string(b), unanswered(err)
}

// unanswered returns the error of a request that the session has left open. A connection that the session has closed, as
// it does if there are too many, is not an error.
func unanswered(err error) error {
	if late := net.Error(nil); errors.As(err, &late) && late.Timeout() {
		return fmt.Errorf("no answer within %s", answerTimeout)
	}
	return nil
}

// refused returns the error in an answer to a request that must not be served.
func (s Target) refused(what, code, answer string) error {
	if code != "" && code < "4" || strings.Contains(answer, s.Secret) {
		return fmt.Errorf("%s was served: %s %.300q", what, code, answer)
	}
	return nil
}

// request sends bytes that must not be served, and returns the error in the answer.
func (s Target) request(ctx context.Context, what, bytes string) error {
	code, answer, err := s.raw(ctx, bytes)
	switch {
	case ctx.Err() != nil:
		return nil //nolint:nilerr // a request that was cut short shows nothing
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	}
	return s.refused(what, code, answer)
}
