package model

import "testing"

func TestTriggered(t *testing.T) {
	for _, tc := range []struct {
		trigger, file string
		want          bool
	}{
		{"/p/package.json", "/p/package.json", true},
		{"/p/package.json", "/p/web/package.json", false},
		{"/p/src", "/p/src/a/b.js", true},
		{"/p/src/", "/p/src/b.js", true},
		{"/p/src", "/p/srcs/b.js", false},
		{"/p/src/*.js", "/p/src/b.js", true},
		{"/p/src/*.js", "/p/src/b.ts", false},
		{"/p/src/*.js", "/p/src/a/b.js", false},
		{"/p/src/**/*.js", "/p/src/b.js", true},
		{"/p/src/**/*.js", "/p/src/a/c/b.js", true},
		{"/p/src/**/*.js", "/p/other/b.js", false},
		{"/p/**/package.json", "/p/web/package.json", true},
		{"/p/**", "/p/web/package.json", true},
		{"/p/**", "/p", false},
		{"/p/src/**/", "/p/src/b.js", true},
		{"/p/a?c/d", "/p/abc/d/e", true},
		{"/p/pages/[id].js", "/p/pages/[id].js", true},
		{"/p/pages/[id].js", "/p/pages/i.js", true},
		{"/p/*", "/p/folder/file", true},
		{"/p/[", "/p/x", false},
	} {
		if got := Triggered(tc.trigger, tc.file); got != tc.want {
			t.Errorf("Triggered(%s, %s) = %v", tc.trigger, tc.file, got)
		}
	}
}

func TestReaches(t *testing.T) {
	for _, tc := range []struct {
		trigger, dir string
		want         bool
	}{
		{"/p/src/package.json", "/p/src", true},
		{"/p", "/p/src", true},
		{"/p/package.json", "/p/src", false},
		{"/p/src/*.js", "/p/src", true},
		{"/p/**/*.js", "/p/src", true},
		{"/p/*/package.json", "/p/src", true},
		{"/p/other/*.js", "/p/src", false},
		{"/p/other/**/*.js", "/p/src", false},
		{"/p/s*/x/*.js", "/p/src/y", false},
		{"/p/s*/*.js", "/p/src/y", false},
		{"/p/s*", "/p/src/y", true},
	} {
		if got := Reaches(tc.trigger, tc.dir); got != tc.want {
			t.Errorf("Reaches(%s, %s) = %v", tc.trigger, tc.dir, got)
		}
	}
}
