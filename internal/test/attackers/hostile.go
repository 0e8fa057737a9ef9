// Package attackers holds clients that mean harm to a session: strangers, floods, and connections that are never read from. It
// only attacks, and finds out what it was given; the tests of the server and the benchmark say whom.
//
// An attack's goroutines belong to the call that began it, which waits for them, or to its release.
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

// Session is what an attack knows of the session that it attacks.
type Session struct {
	// Address is the host and the port that it listens on.
	Address string
	// Token is that of its owner: some attacks send it.
	Token string
	// Secret is a word that is in every answer that shows the session.
	Secret string
	// Resource is the name of one of its resources.
	Resource string
}

// Attack is one way to mean harm. It does either of two things and leaves the other nil.
type Attack struct {
	Name string
	// Once attacks one time and returns, as one error, all that was served although it must not be; nil when ctx has ended.
	Once func(ctx context.Context, s Session) error
	// Hold opens connections and keeps them until it is told to release them. Fewer connections than were tried are no error.
	Hold func(ctx context.Context, s Session) (release func(), err error)
}

// Attacks are all of them.
var Attacks = []Attack{
	{Name: "strangers", Once: Strangers},
	{Name: "path tricks", Once: PathTricks},
	{Name: "malformed requests", Once: Malformed},
	{Name: "malformed patches", Once: Patches},
	{Name: "bodies of 1 GB", Once: EndlessBodies},
	{Name: "slow requests", Once: SlowRequests},
	{Name: "idle connections", Hold: IdleConnections(Idle)},
	{Name: "watchers that never read", Hold: DeadWatchers},
	{Name: "answers that nobody reads", Hold: DeadReaders},
}

const (
	// answerTimeout bounds the time in which a session is to have refused a request; that for its headers is 5 s.
	answerTimeout = 20 * time.Second
	// dialTimeout bounds the time in which the machine is to take a connection.
	dialTimeout = 10 * time.Second
)

// dial opens a connection that is closed when ctx ends, at the latest. The caller closes it.
func (s Session) dial(ctx context.Context) (net.Conn, error) {
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

// owner is the header by which a session knows its owner.
func (s Session) owner() string { return "Authorization: Bearer " + s.Token + "\r\n" }

// raw sends bytes as they are and returns the status code and all that came back, up to 1 MB. A connection that breaks has
// given what it has given.
func (s Session) raw(ctx context.Context, request string) (code, answer string, err error) {
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

// unanswered returns the error of a request that the session has left open. One that it has broken off, as it does where
// there are too many, is nothing to complain of.
func unanswered(err error) error {
	if late := net.Error(nil); errors.As(err, &late) && late.Timeout() {
		return fmt.Errorf("no answer within %s", answerTimeout)
	}
	return nil
}

// refused is what is wrong with an answer to something that must not be served.
func (s Session) refused(what, code, answer string) error {
	if code != "" && code < "4" || strings.Contains(answer, s.Secret) {
		return fmt.Errorf("%s was served: %s %.300q", what, code, answer)
	}
	return nil
}

// request sends bytes that must not be served, and says what is wrong with what came back.
func (s Session) request(ctx context.Context, what, bytes string) error {
	code, answer, err := s.raw(ctx, bytes)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	}
	return s.refused(what, code, answer)
}
