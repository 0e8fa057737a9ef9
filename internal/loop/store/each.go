package store

// Each is a value for each item of a derived list. It is computed once for an item, however many lists hold the item:
// between two snapshots nearly all items stay the same, and examining a thousand entries takes a hundred times as long as
// comparing them.
type Each[T comparable, V any] struct {
	list *Derived[[]T]
	of   *Derived[values[T, V]]
}

// values belong to the items at the same place.
type values[T comparable, V any] struct {
	items  []T
	values []V
}

// DeriveEach adds a derived value for each item of a list to the schema. of must be pure and depend only on the item; equal
// items share a value.
func DeriveEach[T comparable, V any](s *Schema, name string, list *Derived[[]T], of func(T) V) *Each[T, V] {
	return &Each[T, V]{list, DeriveFrom(s, name, func(v View, before *values[T, V]) values[T, V] {
		items := list.In(v)
		if before == nil {
			before = &values[T, V]{}
		}
		return values[T, V]{items, each(items, *before, of)}
	}, list)}
}

// In returns the items in v, and their values. Neither must be changed.
func (e *Each[T, V]) In(v View) ([]T, []V) {
	is := e.of.In(v)
	return is.items, is.values
}

// lookAhead is the number of items of each list that are searched, after a difference, for the place where both lists agree
// again.
const lookAhead = 8

// each returns the values of items, and reuses the values from before for items that are the same.
func each[T comparable, V any](items []T, before values[T, V], of func(T) V) []V {
	out := make([]V, len(items))
	was := before.items
	for i := 0; i < len(items); {
		from := len(before.items) - len(was)
		same := 0
		for same < min(len(was), len(items)-i) && was[same] == items[i+same] {
			same++
		}
		copy(out[i:], before.values[from:from+same])
		was, i = was[same:], i+same
		gone, come := meet(was, items[i:])
		for range come {
			out[i] = of(items[i])
			i++
		}
		was = was[gone:]
	}
	return out
}

// meet returns how many items of each of two lists that begin differently precede the place where they agree again.
func meet[T comparable](was, is []T) (gone, come int) {
	for n := 1; n < 2*lookAhead; n++ {
		for gone = max(0, n-lookAhead); gone <= min(n, lookAhead); gone++ {
			if come = n - gone; gone < len(was) && come < len(is) && was[gone] == is[come] {
				return gone, come
			}
		}
	}
	return min(1, len(was)), min(1, len(is))
}
