package k8s

import (
	"errors"
	"testing"
)

func TestParseExecStatus(t *testing.T) {
	tests := []struct {
		name, message string
		code          int // -1 for an error that is not an exit
	}{
		{"success", `{"status":"Success"}`, 0},
		{"exit", `{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`, 3},
		{"shell found nothing", `{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"127"}]}}`, 127},
		{"runc", `{"status":"Failure","message":"OCI runtime exec failed: exec failed: unable to start container process: exec: \"tar\": executable file not found in $PATH: unknown"}`, 127},
		{"absolute path", `{"status":"Failure","message":"OCI runtime exec failed: exec failed: unable to start container process: exec: \"/x\": stat /x: no such file or directory: unknown"}`, 127},
		{"not executable", `{"status":"Failure","message":"unable to start container process: exec: \"/etc/passwd\": permission denied: unknown"}`, 126},
		{"container gone", `{"status":"Failure","message":"container not running"}`, -1},
		{"odd code", `{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"x"}]}}`, -1},
		{"not JSON", `oops`, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := parseExecStatus([]byte(tt.message))
			var exit *ExitError
			switch {
			case tt.code == 0:
				if err != nil {
					t.Error(err)
				}
			case errors.As(err, &exit) != (tt.code > 0), exit != nil && exit.Code != tt.code:
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzParseExecStatus(f *testing.F) {
	f.Add([]byte(`{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		var exit *ExitError
		if errors.As(parseExecStatus(message), &exit) && exit.Code == 0 {
			t.Errorf("%q is an exit with code 0", message)
		}
	})
}
