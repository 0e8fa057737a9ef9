package model

import "testing"

// TestKeptRegistry finds the namespace in the address of a registry that hone keeps, and in no other one.
func TestKeptRegistry(t *testing.T) {
	for host, want := range map[string]string{
		KeptRegistry("shop", "").Host:       "shop",
		KeptRegistry("", "").Host:           "default",
		"hone-registry.svc:5000":            "",
		"hone-registry..svc:5000":           "",
		"hone-registry.shop.svc":            "",
		"registry.shop.svc:5000":            "",
		"localhost:5000":                    "",
		"hone-registry.shop.svc:5000/image": "",
	} {
		if got, ok := KeptIn(host); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t", host, got, ok)
		}
	}
	for namespace, image := range map[string]string{"shop": "", "dev": "registry.example.com/registry:3"} {
		r := KeptRegistry(namespace, image)
		if port := KeptRegistryNodePort(namespace); port < 25000 || port >= 30000 || !r.Kept() || image != "" && r.KeptImage != image {
			t.Errorf("%+v", r)
		}
	}
	own, kept := Registry{Host: "registry.example.com"}, KeptRegistry("shop", "")
	for _, tt := range []struct {
		set  Registry
		on   string
		want Registry
	}{{own, "", own}, {own, "eu", own}, {kept, "", kept}, {kept, "eu", Registry{}}} {
		if got := (Tiltfile{DefaultRegistry: tt.set}).RegistryFor(tt.on); got != tt.want {
			t.Errorf("the registry of %q is %+v", tt.on, got)
		}
	}
}
