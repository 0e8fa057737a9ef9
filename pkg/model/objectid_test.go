package model

import "testing"

// TestServes: which kinds have pods that stay.
func TestServes(t *testing.T) {
	for id, want := range map[ObjectID]bool{
		{Group: "apps", Kind: "Deployment"}: true, {Group: "apps", Kind: "StatefulSet"}: true, {Kind: "Pod"}: true,
		{Group: "batch", Kind: "Job"}: false, {Kind: "Service"}: false, {Group: "example.com", Kind: "Deployment"}: false,
	} {
		if got := id.Serves(); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}
