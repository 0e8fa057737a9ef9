package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestPrintedSecretsAreHidden prints the values of a Secret before and after the Tiltfile declares it: neither the
// output nor the stored log shows them, even after an evaluation that a save triggers, and after one that fails.
func TestPrintedSecretsAreHidden(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
secret = read_yaml('secret.yaml')
print('before', secret['data']['password'], 'swordfish-9000')
local_resource('says', 'echo swordfish-9000')
k8s_yaml('secret.yaml')
print('after', secret['data']['password'], 'swordfish-9000')
fail('it was swordfish-9000') if read_file('broken', '') else None
-- secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: db}
data: {password: c3dvcmRmaXNoLTkwMDA=}
`)
	hidden := "[redacted secret db:password] [redacted secret db:password]"
	s := p.up()
	defer p.run("down", "--namespace", p.namespace)
	s.says(`after \[redacted secret db:password\] \[redacted secret db:password\]`)
	s.says(`says │ \[redacted secret db:password\]`)
	p.write("broken", "yes")
	s.says(`it was \[redacted secret db:password\]`)
	log, code := p.run("logs", "--port", fmt.Sprint(s.port))
	if code != 0 || strings.Count(log, "before "+hidden) != 2 || strings.Count(log, "after "+hidden) != 2 {
		t.Errorf("the log: %d %s", code, log)
	}
	status, code := p.run("get", "tiltfiles", "-o", "yaml", "--port", fmt.Sprint(s.port))
	if code != 0 || !strings.Contains(status, "it was [redacted secret db:password]") {
		t.Errorf("the Tiltfile: %d %s", code, status)
	}
	s.stop()
	ci, code := p.run("ci", "--port", "0", "--namespace", p.namespace)
	if code != 5 || !strings.Contains(ci, "before "+hidden) {
		t.Errorf("ci: %d %s", code, ci)
	}
	for what, text := range map[string]string{"up": s.out.String(), "logs": log, "get": status, "ci": ci} {
		for _, value := range []string{"swordfish-9000", "c3dvcmRmaXNoLTkwMDA"} {
			if strings.Contains(text, value) {
				t.Errorf("%s shows %s:\n%s", what, value, text)
			}
		}
	}
}
