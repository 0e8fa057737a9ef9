package projection

import (
	"reflect"
	"sync/atomic"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// redacted replaces a value that is not shown.
const redacted = logstore.RedactedMark + "]"

// secretsID identifies a list of secrets. An evaluation of the Tiltfile that finds the same secrets keeps the list.
type secretsID struct {
	first *model.Secret
	n     int
}

func identify(secrets []model.Secret) secretsID {
	if len(secrets) == 0 {
		return secretsID{}
	}
	return secretsID{&secrets[0], len(secrets)}
}

// known caches the newest scrubber. Creating a scrubber costs more than creating an object, and the secrets rarely change.
var known atomic.Pointer[knownScrubber]

type knownScrubber struct {
	id secretsID
	logstore.Scrubber
}

func scrubberFor(secrets []model.Secret) logstore.Scrubber {
	id := identify(secrets)
	if k := known.Load(); k != nil && k.id == id {
		return k.Scrubber
	}
	k := &knownScrubber{id, logstore.NewScrubber(secrets)}
	known.Store(k)
	return k.Scrubber
}

// scrub replaces the secrets in all texts of an object except its names. Memory that the object shares with the store is
// copied before it is changed.
func scrub(s *source, o Object) {
	sc := scrubberFor(s.tiltfile.Value.Result.Secrets)
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); !f.Anonymous {
			replace(v.Field(i), sc)
		}
	}
	replace(reflect.ValueOf(&labels).Elem(), sc)
	replace(reflect.ValueOf(&annotations).Elem(), sc)
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}

// address is the type of addresses that must lead somewhere: a browser opens them.
var address = reflect.TypeFor[v1alpha1.UIResourceLink]()

// replace replaces the secrets in the texts of a settable value, and reports whether it changed any text.
func replace(v reflect.Value, sc logstore.Scrubber) (changed bool) {
	if v.Type() == address {
		url := v.FieldByName("URL")
		was := url.String()
		url.SetString(sc.Address(was))
		return url.String() != was
	}
	switch v.Kind() {
	case reflect.String:
		if was := v.String(); was != "" {
			if is := sc.Text(was); is != was {
				v.SetString(is)
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !v.Type().Field(i).Anonymous || embedded(v.Type().Field(i)) {
				changed = replace(v.Field(i), sc) || changed
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return replace(v.Elem(), sc) // objects share no pointers with the store
		}
	case reflect.Slice:
		return replaceSlice(v, sc)
	case reflect.Map:
		return replaceMap(v, sc)
	}
	return changed
}

// embedded reports whether a field embeds one of this module's types, unlike the time in types of other packages.
func embedded(f reflect.StructField) bool {
	own := f.Type.Kind() == reflect.Struct && f.Type.PkgPath() != "time"
	return own && f.Anonymous && f.IsExported()
}

func replaceSlice(v reflect.Value, sc logstore.Scrubber) bool {
	if v.Type().Elem().Kind() != reflect.String {
		changed := false
		for i := range v.Len() {
			changed = replace(v.Index(i), sc) || changed
		}
		return changed
	}
	var own reflect.Value
	for i := range v.Len() {
		was := v.Index(i).String()
		is := sc.Text(was)
		if is == was {
			continue
		}
		if !own.IsValid() {
			own = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			v.Set(own)
		}
		own.Index(i).SetString(is)
	}
	return own.IsValid()
}

func replaceMap(v reflect.Value, sc logstore.Scrubber) bool {
	if v.Type().Elem().Kind() != reflect.String || v.Len() == 0 {
		return false
	}
	own := reflect.MakeMapWithSize(v.Type(), v.Len())
	changed := false
	for it := v.MapRange(); it.Next(); {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(it.Value())
		changed = replace(value, sc) || changed
		own.SetMapIndex(it.Key(), value)
	}
	if changed {
		v.Set(own)
	}
	return changed
}
