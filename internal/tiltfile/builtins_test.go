package tiltfile

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBuiltinsList checks the list of names in the language, so that none is added or removed by accident.
func TestBuiltinsList(t *testing.T) {
	s := newState(context.Background(), "/Tiltfile", Options{})
	got := strings.Join(append(builtinNames(), slices.Sorted(maps.Keys(s.constants()))...), "\n") + "\n"
	file := filepath.Join("testdata", "builtins.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("names differ (-want +got):\n%s", diff)
	}
}

// TestBuiltinsRefuseNonsense calls every builtin with an unknown argument: each error must name the builtin, and none
// may panic.
func TestBuiltinsRefuseNonsense(t *testing.T) {
	for _, name := range builtinNames() {
		res := loadText(t, name+"(no_such_argument=1)\n", nil)
		switch name {
		case "analytics_settings", "experimental_analytics_report", "set_team", "disable_snapshots",
			"experimental_telemetry_cmd", "experimental_metrics_settings":
			if res.Err != nil {
				t.Errorf("%s: %v, want it to take anything", name, res.Err)
			}
		default:
			if res.Err == nil || !strings.Contains(res.Err.Error(), name[strings.LastIndex(name, ".")+1:]) {
				t.Errorf("%s: got %v, want an error that names it", name, res.Err)
			}
		}
	}
}

func TestOtherNames(t *testing.T) {
	res := loadText(t, "read_file(file_path='Tiltfile')\nlistdir(directory='.')\nblob(contents='x')\nread_json(paths='x', default=1)\n", nil)
	if res.Err != nil {
		t.Error(res.Err)
	}
}
