package view

import "testing"

// TestOn shortens the name of a machine, and keeps its most telling part.
func TestOn(t *testing.T) {
	for _, tt := range []struct {
		box   string
		width int
		want  string
	}{
		{"box", 12, "box"},
		{"dev@box:2222", 12, "dev@box:2222"},
		{"dev@box:2222", 11, "box:2222"},
		{"dev@box:2222", 7, "box"},
		{"developer@build-17.eu.example.com", 40, "developer@build-17.eu.example.com"},
		{"developer@build-17.eu.example.com", 25, "build-17.eu.example.com"},
		{"developer@build-17.eu.example.com:2222", 12, "build-17…"},
		{"dev@10.20.130.40:2222", 13, "10.20.130.40"},
		{"[fd00:1234:5678:9abc::17]:2222", 12, "fd00:1…c::17"},
		{"workstation-of-the-team-17", 12, "workst…am-17"},
		{"workstation-of-the-team-17.example.com", 12, "workst…am-17"},
	} {
		if got := (Header{Box: tt.box}).On(tt.width); got != tt.want {
			t.Errorf("%s in %d columns is %q, want %q", tt.box, tt.width, got, tt.want)
		}
	}
}
