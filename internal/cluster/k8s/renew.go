package k8s

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// renewEvery is the time between two attempts at another connection while nothing arrives: a system repeats its own attempts
	// at growing intervals, and would notice the return of the network long after it.
	renewEvery = time.Second
	// renewWithin bounds one such attempt.
	renewWithin = 5 * time.Second
	// deadAfter is the least delay after which a pinged connection without any answer counts as dead, in addition to the time
	// between two pings (askIdle). The delay is twice the time of an exchange on a new connection where that is longer, because
	// the answers to pings take as long as others.
	deadAfter = 500 * time.Millisecond
	// deadBy is the most that this delay can be: an exchange may have begun before the network came back.
	deadBy = 1500 * time.Millisecond
	// trips is the number of round trips before the first answer on a new connection: TCP, TLS, the request.
	trips = 3
	// grace is the longest time that the old connections have to show that they live, once a new one has been answered.
	grace = 250 * time.Millisecond
)

// greeting is an attempt to get an answer on a new connection, on the clock of heard.
type greeting struct {
	began, took int64
	err         error
}

// Renew is for a time when nothing arrives. It waits until the API server answers on a new connection, and ends the older ones
// unless they prove to be alive: after a change of networks, or the sleep of this machine, they may never fail by themselves.
// Their users fail and begin again, with a new connection. Renew returns an error if the connection is refused, and when ctx is
// done.
func (c *Client) Renew(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before := c.conns.heard.at.Load()
	others := &conns{dialContext: c.conns.dialContext, heard: newHeard()}
	defer others.close() // also one whose handshake still runs, which a request does not wait for when it is cancelled
	fresh, err := c.login.clientFor(func(config *rest.Config) (http.RoundTripper, error) {
		config.Dial = others.dial
		return upgradable(config)
	})
	if err != nil {
		return fmt.Errorf("set up another connection: %w", err)
	}
	ended := make(chan greeting)
	tries := 0
	defer func() {
		cancel()
		for range tries {
			<-ended
		}
	}()
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-again.C:
			tries++
			began := c.conns.heard.clock()
			go func() {
				err := greet(ctx, fresh, c.rest.Host)
				ended <- greeting{began, c.conns.heard.clock() - began, err}
			}()
			again.Reset(renewEvery)
		case a := <-ended:
			tries--
			switch {
			case errors.Is(a.err, context.DeadlineExceeded), ctx.Err() != nil:
			case a.err != nil:
				return c.Explain(a.err)
			default:
				late := min(2*time.Duration(a.took), deadBy)
				c.conns.heard.lag.Store(int64(late) / 2 / trips)
				return c.replace(ctx, a, before, max(late, deadAfter))
			}
		}
	}
}

// replace ends the connections that are older than a new one and dead. A pinged connection is dead when nothing has arrived on it
// for askIdle plus late. Where no connection is pinged, all are dead if nothing has arrived on any. It first waits until a silent
// connection is that late, at least for the time that an answer is under way, and at most for grace: on a slow line, the attempt
// itself has taken most of that time.
func (c *Client) replace(ctx context.Context, a greeting, heard int64, late time.Duration) error {
	wait := grace
	if c.conns.heard.pings.Load() {
		wait = min(grace, max(askIdle+late-c.conns.stuck(), time.Duration(a.took)/trips/2))
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
	}
	if !c.conns.endDead(a.began, askIdle+late) && !c.conns.heard.pings.Load() && c.conns.heard.at.Load() == heard {
		c.conns.end(a.began, a.began)
	}
	return nil
}

// greet returns nil if the server gives any answer.
func greet(ctx context.Context, client *http.Client, host string) error {
	ctx, cancel := context.WithTimeout(ctx, renewWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/version", nil)
	if err != nil {
		return err
	}
	req.Close = true
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
