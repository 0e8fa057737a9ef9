package state

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
)

// Subscriber is an entry of table subscribers; its id is the subscriber's name.
type Subscriber struct {
	State   store.SubscriberState
	Crashes int
	Err     string
	RetryAt time.Time
}

func init() {
	store.On(Subscribers, func(d *store.Draft[Subscriber], a store.SubscriberReported) {
		d.Put(a.Name, Subscriber{State: a.State, Crashes: a.Crashes, Err: a.Err, RetryAt: a.RetryAt})
	})
}
