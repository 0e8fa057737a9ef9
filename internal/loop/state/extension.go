package state

import (
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func init() {
	store.On(Extensions, func(d *store.Draft[model.Extension], a TiltfileLoaded) {
		if a.Err == "" {
			declareEach(d, a.Result.Extensions, func(e model.Extension) (string, map[string]string) { return e.Name, e.Labels },
				func(_ model.Extension, _ int, e model.Extension) model.Extension { return e })
		}
	})
	store.On(ExtensionRepos, func(d *store.Draft[model.ExtensionRepo], a TiltfileLoaded) {
		if a.Err == "" {
			declareEach(d, a.Result.ExtensionRepos, func(r model.ExtensionRepo) (string, map[string]string) { return r.Name, r.Labels },
				func(_ model.ExtensionRepo, _ int, r model.ExtensionRepo) model.ExtensionRepo { return r })
		}
	})
	store.On(Extensions, func(d *store.Draft[model.Extension], a ObjectsDeclared) {
		for _, e := range a.Extensions {
			putForeign(d, e.Name, e.Labels, func(model.Extension) model.Extension { return e })
		}
	})
	store.On(ExtensionRepos, func(d *store.Draft[model.ExtensionRepo], a ObjectsDeclared) {
		for _, r := range a.ExtensionRepos {
			putForeign(d, r.Name, r.Labels, func(model.ExtensionRepo) model.ExtensionRepo { return r })
		}
	})
	store.On(Extensions, func(d *store.Draft[model.Extension], a ObjectsWithdrawn) { withdraw(d, a.Extensions) })
	store.On(ExtensionRepos, func(d *store.Draft[model.ExtensionRepo], a ObjectsWithdrawn) { withdraw(d, a.ExtensionRepos) })
	// Their declarations take effect through an evaluation of the Tiltfile.
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a ObjectsDeclared) {
		if len(a.Extensions)+len(a.ExtensionRepos) > 0 {
			extensionsSet(d)
		}
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a ObjectsWithdrawn) {
		if len(a.Extensions)+len(a.ExtensionRepos) > 0 {
			extensionsSet(d)
		}
	})
}

func extensionsSet(d *store.Draft[Tiltfile]) {
	d.Update(Only, func(t Tiltfile) Tiltfile {
		t.Triggered, t.ExtensionsSet = d.Now(), true
		return t
	})
}

// ForeignExtensions returns the extensions and extension repositories that were declared from outside.
func ForeignExtensions(v store.View) (out model.APIObjects) {
	for e := range ExtensionRepos.In(v).Refs() {
		if foreign(e) {
			out.ExtensionRepos = append(out.ExtensionRepos, e.Value)
		}
	}
	for e := range Extensions.In(v).Refs() {
		if foreign(e) {
			out.Extensions = append(out.Extensions, e.Value)
		}
	}
	return out
}
