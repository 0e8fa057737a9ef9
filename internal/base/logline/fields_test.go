package logline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFields(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       []Field
	}{
		{"JSON", ` {"level":"error","ts":1732363200.12,"msg":"a \"b\"","http":{"status":500,"tags":["x", 1],"empty":{}},"ok":true,"n":null} `, []Field{
			{"level", "error", RoleLevel}, {"ts", "1732363200.12", RoleTime}, {"msg", `a "b"`, RoleMessage}, {"http.status", "500", RoleNone},
			{"http.tags", `["x", 1]`, RoleNone}, {"http.empty", "{}", RoleNone}, {"ok", "true", RoleNone}, {"n", "null", RoleNone}}},
		{"ECS", `{"@timestamp":"2026-11-20T12:41:03Z","log":{"level":"warn"},"message":"x"}`, []Field{
			{"@timestamp", "2026-11-20T12:41:03Z", RoleTime}, {"log.level", "warn", RoleLevel}, {"message", "x", RoleMessage}}},
		{"a message called event", `{"event":"saved","level":"info"}`, []Field{{"event", "saved", RoleMessage}, {"level", "info", RoleLevel}}},
		{"an event with a message", `{"event":"saved","msg":"x"}`, []Field{{"event", "saved", RoleNone}, {"msg", "x", RoleMessage}}},
		{"large numbers", `{"id":12345678901234567890}`, []Field{{"id", "12345678901234567890", RoleNone}}},
		{"logfmt", `time=2026-11-20T12:41:03Z level=warn msg="a \"b\" c" empty= path=/x?a=b`, []Field{
			{"time", "2026-11-20T12:41:03Z", RoleTime}, {"level", "warn", RoleLevel}, {"msg", `a "b" c`, RoleMessage}, {"empty", "", RoleNone}, {"path", "/x?a=b", RoleNone}}},
		{"colours", "\x1b[36mlevel\x1b[0m=warn \x1b[36mmsg\x1b[0m=x", []Field{{"level", "warn", RoleLevel}, {"msg", "x", RoleMessage}}},
		{"one pair", `a=b`, nil},
		{"prose with pairs", `saved user=3 id=4`, nil},
		{"an open quote", `a=b c="d`, nil},
		{"an open object", `{"a":1`, nil},
		{"two objects", `{"a":1} {"b":2}`, nil},
		{"an array", `[1,2]`, nil},
		{"empty object", `{}`, nil},
		{"empty", ``, nil},
		{"prose", `{not json}`, nil},
		{"deep", strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), []Field{{strings.Repeat("a.", 15) + "a", strings.Repeat(`{"a":`, 24) + "1" + strings.Repeat("}", 24), RoleNone}}},
	} {
		got, ok := Fields(tt.line)
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want != nil) {
			t.Errorf("%s: ok %t, fields (-want +got):\n%s", tt.name, ok, diff)
		}
	}
}
