package store

import "context"

// NewRuntime returns one subscriber's access to a store, without checking its contract against others. It is for tests of
// one subscriber: the contract is still enforced, and entries get the finalizers of the tables that it holds. It must be
// called before the store's loop runs.
func NewRuntime(s *Store, sub Subscriber) *Runtime {
	c := sub.Contract()
	for _, in := range c.Inputs {
		if _, table := s.schema.table(in.Table); in.Strong && table >= 0 {
			s.finalizers[table] = append(s.finalizers[table], c.Name)
		}
	}
	return newRuntime(s, c)
}

// RunAlone runs one subscriber until ctx is done or it returns, waking it as a Supervisor would. It is for tests of one
// subscriber: nothing restarts it, and a panic is not caught. The caller runs the store's loop separately.
func RunAlone(ctx context.Context, sub Subscriber, rt *Runtime) error {
	rt.store.attach(rt.box)
	defer rt.store.detach(rt.box)
	rt.box.wake()
	return sub.Run(ctx, rt)
}
