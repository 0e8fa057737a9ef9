package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/test/hostile"
	"github.com/hone-dev/hone/pkg/model"
)

// leastSecret is the length in bytes from which the common check looks for a value: shorter ones occur in other text, and a word may be
// shown where it is part of a name.
const leastSecret = 10

// declaredSecrets are the values of the Secrets that a project has declared, at any time. Its methods may be called from any goroutine.
type declaredSecrets struct {
	mu     sync.Mutex
	values []string
}

// documents are the places where a document of YAML begins or ends: in a file, and in a text of a Tiltfile.
var documents = regexp.MustCompile(`(?m)^---$|'''|"""`)

// add adds values.
func (d *declaredSecrets) add(values ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.values = append(d.values, values...)
}

// learn adds the Secrets in a file.
func (d *declaredSecrets) learn(content string) {
	if !strings.Contains(content, "kind: Secret") {
		return
	}
	for _, doc := range documents.Split(content, -1) {
		var object map[string]any
		if yaml.Unmarshal([]byte(doc), &object) != nil || object["kind"] != "Secret" {
			continue
		}
		model.EachSecretValue(object, func(path []string, values map[string]any, name string) {
			value, _ := values[name].(string)
			if plain, err := base64.StdEncoding.DecodeString(value); err == nil && slices.Contains(path, "data") {
				value = string(plain)
			}
			if len(value) >= leastSecret && !strings.Contains(value, "\n") {
				d.add(value)
			}
		})
	}
}

// in returns the first value that a text has, in any form, with the text around it; empty for none.
func (d *declaredSecrets) in(text []byte) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, value := range d.values {
		for _, form := range forms(value) {
			if at := bytes.Index(text, []byte(form)); at >= 0 {
				return string(text[max(0, at-80):min(len(text), at+len(form)+40)])
			}
		}
	}
	return ""
}

// forms returns a value in the forms in which it may be found: plain, and in base64 wherever it begins.
func forms(value string) []string {
	out := []string{value}
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte("xx"[:before] + value))
		out = append(out, text[(before*8+5)/6:(before+len(value))*8/6])
	}
	return out
}

// any reports whether a Secret is declared.
func (d *declaredSecrets) any() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.values) > 0
}

// withheld returns an error if a text has a value of a declared Secret.
func (d *declaredSecrets) withheld(where string, text []byte) error {
	if found := d.in(text); found != "" {
		return fmt.Errorf("%s shows the value of a Secret: …%q…", where, found)
	}
	return nil
}

// printed checks what hone has written to a terminal: it has no value of a declared Secret, and nothing that a terminal obeys except colours.
func (d *declaredSecrets) printed(where, text string) error {
	if found := hostile.Found(text); found != "" {
		return fmt.Errorf("%s passes %q on", where, found)
	}
	return d.withheld(where, []byte(text))
}

// left checks each file that hone has written into a folder: the log, the ledger, snapshots, crashes.
func (d *declaredSecrets) left(dir string) error {
	var faults []error
	files := 0
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // files come and go while a session runs
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		files++
		name := strings.TrimPrefix(path, dir)
		if slices.Contains([]string{".log", ".txt", ".crash"}, filepath.Ext(path)) {
			faults = append(faults, d.printed(name, string(text)))
		} else {
			faults = append(faults, d.withheld(name, text))
		}
		return nil
	})
	if files == 0 && d.any() { // commands without a session leave none
		faults = append(faults, fmt.Errorf("there is no file in %s", dir))
	}
	return errors.Join(faults...)
}

// complain reports an error.
func (p *project) complain(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Error(err)
	}
}

// withholds, prints and leavesNothing report the errors of withheld, printed and left.
func (p *project) withholds(where string, text []byte) {
	p.t.Helper()
	p.complain(p.secrets.withheld(where, text))
}

func (p *project) prints(where, text string) {
	p.t.Helper()
	p.complain(p.secrets.printed(where, text))
}

func (p *project) leavesNothing() {
	p.t.Helper()
	p.complain(p.secrets.left(p.state))
}

// answered are the kinds of objects that hold the most text of others.
var answered = []string{"drifts", "uiresources", "kubernetesapplies", "kubernetesdiscoveries", "cmds", "tiltfiles", "configmaps"}

// answersNothing checks what a session answers: its view, and its objects.
func (s *session) answersNothing() {
	s.p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience) // the context of the test has ended
	defer cancel()
	c, err := s.clientIn(ctx)
	if err != nil {
		return // it has ended
	}
	if v, err := c.View(ctx); err == nil {
		text, _ := json.Marshal(v)
		s.p.withholds("the view", text)
	}
	config := c.RESTConfig()
	config.QPS = -1
	all, err := dynamic.NewForConfig(config)
	if err != nil {
		s.p.t.Error(err)
		return
	}
	for _, kind := range answered {
		if list, err := all.Resource(schema.GroupVersionResource{Group: "tilt.dev", Version: "v1alpha1", Resource: kind}).List(ctx, metav1.ListOptions{}); err == nil {
			text, _ := json.Marshal(list)
			s.p.withholds(kind, text)
		}
	}
}

// TestShownSecretsAreSeen shows that the common check sees the values of Secrets in all forms.
func TestShownSecretsAreSeen(t *testing.T) {
	d := &declaredSecrets{}
	d.learn("k8s_yaml(blob('''\nkind: Secret\nstringData: {a: swordfish-9000, b: short}\n'''))")
	d.learn("kind: ConfigMap\ndata: {a: barracuda-1000}\n---\nkind: Secret\ndata: {c: bWFybGluLTcwMDAveHl6}\n")
	for text, want := range map[string]bool{
		"it is swordfish-9000.": true, "marlin-7000/xyz": true, "bWFybGluLTcwMDAveHl6": true, base64.StdEncoding.EncodeToString([]byte("me:swordfish-9000")): true,
		"short": false, "barracuda-1000": false, "swordfish": false,
	} {
		if got := d.in([]byte(text)); (got != "") != want {
			t.Errorf("in %q it found %q", text, got)
		}
	}
}
