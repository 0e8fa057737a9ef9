package k8s

import (
	"fmt"
	"strings"
	"testing"
)

func TestLastLines(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, "2026-11-20T12:41:00.000000001Z line %d\r\n", i)
	}
	b.WriteString("2026-11-20T12:41:00Z " + strings.Repeat("x", 3*previousLine) + "\n2026-11-20T12:41:00Z the end")
	got, err := lastLines(strings.NewReader(b.String()), 4)
	if err != nil || len(got) != 4 || got[0] != "line 48" || got[1] != "line 49" || !strings.HasPrefix(got[2], "xxx") || len(got[2]) > previousLine || got[3] != "the end" {
		t.Errorf("%v %.200q", err, got)
	}
}
