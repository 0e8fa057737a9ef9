package v1alpha1

import "reflect"

// deepCopy returns a copy of an object that shares no memory with it. Structs with unexported fields, such as times, are
// treated as immutable values.
func deepCopy[T any](in *T) *T {
	if in == nil {
		return nil
	}
	out := new(T)
	copyInto(reflect.ValueOf(out).Elem(), reflect.ValueOf(in).Elem())
	return out
}

func copyInto(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			copyInto(to.Elem(), from.Elem())
		}
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				copyInto(to.Index(i), from.Index(i))
			}
		}
	case reflect.Map:
		if !from.IsNil() {
			to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
			for it := from.MapRange(); it.Next(); {
				value := reflect.New(from.Type().Elem()).Elem()
				copyInto(value, it.Value())
				to.SetMapIndex(it.Key(), value)
			}
		}
	case reflect.Struct:
		to.Set(from)
		for i := range from.NumField() {
			if from.Type().Field(i).IsExported() && shares(from.Field(i).Kind()) {
				copyInto(to.Field(i), from.Field(i))
			}
		}
	default:
		to.Set(from)
	}
}

// shares reports whether values of a kind may share memory after an assignment.
func shares(k reflect.Kind) bool {
	switch k {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Struct:
		return true
	}
	return false
}
