package store

// Each is a value for each item of a derived list. It is computed once for an item, however many lists hold it: between two
// snapshots nearly all stay the same, and to look into each of a thousand entries takes a hundred times as long as to see that
// they are the same.
type Each[T comparable, V any] struct {
	list *Derived[[]T]
	of   *Derived[values[T, V]]
}

// values belong to the items at the same place.
type values[T comparable, V any] struct {
	items  []T
	values []V
}

// DeriveEach adds a derived value for each item of a list to the schema. Of must be pure, and depend on nothing but the item;
// equal items are the same.
func DeriveEach[T comparable, V any](s *Schema, name string, list *Derived[[]T], of func(T) V) *Each[T, V] {
	tables := make([]named, len(list.tables))
	for i, t := range list.tables {
		tables[i] = s.tables[t]
	}
	return &Each[T, V]{list, DeriveFrom(s, name, func(v View, before *values[T, V]) values[T, V] {
		items := list.In(v)
		if before == nil {
			before = &values[T, V]{}
		}
		return values[T, V]{items, each(items, *before, of)}
	}, tables...)}
}

// In returns the items as of v, and their values. Neither must be changed.
func (e *Each[T, V]) In(v View) ([]T, []V) {
	is := e.of.In(v)
	return is.items, is.values
}

// Inputs declares the tables, for subscribers that read the values.
func (e *Each[T, V]) Inputs() []Input { return e.of.Inputs() }

// lookAhead is within how many items on both sides of a change the lists are to meet again.
const lookAhead = 8

// each returns the values of items, those of the items before where they are the same.
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

// meet returns after how many items two lists that begin differently continue alike.
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
