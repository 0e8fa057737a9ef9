package access

import (
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

const (
	// TicketTime is the time for which a ticket can be redeemed.
	TicketTime = time.Minute
	// mostTickets bounds the tickets that are open at a time; a further one replaces the oldest.
	mostTickets = 64
)

// Tickets lets browsers in. A ticket is part of an address, which ends up in histories and in the arguments of processes, so it can
// be redeemed only once, and only for a short time. A browser gets a cookie for it that scripts cannot read. The cookie's value is
// secret, and differs from the session's token, which never reaches a browser this way. Its methods may be called from any
// goroutine.
type Tickets struct {
	now    func() time.Time
	cookie string

	mu   sync.Mutex
	open []ticket // guarded by mu; oldest first
}

type ticket struct {
	hash    [sha256.Size]byte
	to      string
	expires time.Time
}

// NewTickets returns an empty set; now is the clock, nil means time.Now.
func NewTickets(now func() time.Time) *Tickets {
	if now == nil {
		now = time.Now
	}
	return &Tickets{now: now, cookie: rand.Text()}
}

// Issue returns a new ticket of at least 128 random bits. To is the path that the browser is sent to, which must be one of this
// server.
func (t *Tickets) Issue(to string) string {
	text := rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expireLocked()
	if len(t.open) >= mostTickets {
		t.open = slices.Delete(t.open, 0, 1)
	}
	t.open = append(t.open, ticket{sha256.Sum256([]byte(text)), to, t.now().Add(TicketTime)})
	return text
}

// redeem uses up a ticket. It compares hashes, so that the duration reveals nothing about the tickets.
func (t *Tickets) redeem(text string) (to string, ok bool) {
	hash := sha256.Sum256([]byte(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expireLocked()
	i := slices.IndexFunc(t.open, func(o ticket) bool { return o.hash == hash })
	if i < 0 {
		return "", false
	}
	to = t.open[i].to
	t.open = slices.Delete(t.open, i, i+1)
	return to, true
}

func (t *Tickets) expireLocked() {
	now := t.now()
	t.open = slices.DeleteFunc(t.open, func(o ticket) bool { return !now.Before(o.expires) })
}
