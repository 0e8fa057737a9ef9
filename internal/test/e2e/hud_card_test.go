package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// pantry has pods that lack an object or room, a deploy that the API server refuses, a command that deploys and fails, and a
// resource that waits.
var pantry = `
-- Tiltfile --
k8s_yaml('pantry.yaml')
k8s_custom_deploy('chart', 'echo rendering; echo "Error: INSTALLATION FAILED: chart has no version" >&2; exit 1', 'true', deps=[])
local_resource('cook', 'true', resource_deps=['spoon'])
local_resource('serve', 'true', resource_deps=['cook'])
-- pantry.yaml --
` + deployment("spoon", `
terminationGracePeriodSeconds: 0
containers:
- name: spoon
  image: busybox
  command: [sleep, "100000"]
  env: [{name: KEY, valueFrom: {secretKeyRef: {name: keys, key: key}}}]
`) + "---\n" + deployment("fork", `
terminationGracePeriodSeconds: 0
volumes: [{name: keys, secret: {secretName: keys}}]
containers:
- name: fork
  image: busybox
  command: [sleep, "100000"]
  volumeMounts: [{name: keys, mountPath: /keys}]
`) + "---\n" + deployment("feast", `
containers:
- name: feast
  image: busybox
  resources: {requests: {memory: 900Gi}}
`) + "---\n" + deployment("broken", `
containers:
- name: broken
  image: busybox
  ports: [{containerPort: 99999}]
`)

// TestHUDCards goes through the cards of resources that do not run: each root cause has one card, which explains it in plain words
// and names the resources that wait. The card disappears after the fix.
func TestHUDCards(t *testing.T) {
	t.Parallel()
	p := newProject(t, pantry)
	term := p.terminal(200, 50)
	p.hud(term)
	term.shows(`✖ spoon .*Secret keys is missing`)
	term.shows(`◌ fork .*Secret keys is missing`)
	term.shows(`◌ feast .*no node takes its pod: 1 node`)
	term.shows(`✖ broken .*`)
	term.shows(`◌ serve +waits for cook to be ready`)

	cards := map[string]string{}
	term.keys("e")
	for range 4 {
		screen := term.shows(`─ [✖◌] \w.* \d of 4 ─`)
		_, card, _ := strings.Cut(screen, "of 4 ─")
		at := regexp.MustCompile(`─ [✖◌] (.*?) ─ .* (\d) of 4 ─`).FindStringSubmatch(screen)
		cards[at[1]] = card
		term.keys("e")
		if at[2] == "4" {
			break
		}
		term.shows(` ` + string(at[2][0]+1) + ` of 4 ─`)
	}
	term.keys("Escape")
	for who, wants := range map[string][]string{
		"spoon, fork": {`container spoon needs the Secret keys, which does not exist in namespace`, `create the Secret keys`, `Waiting for it: spoon, fork → cook → serve`},
		"feast":       {`no node takes the pod: 1 node has not enough memory left`, `ask for less in resources\.requests`, `nodes are available`},
		"broken":      {`(?s)apply deployment/broken.*99999.*must be between 1 and 65535`},
		"chart":       {`Error: INSTALLATION FAILED: chart has no version`},
	} {
		card, has := cards[who]
		if !has {
			t.Errorf("there is no card of %s: %v", who, cards)
		}
		for _, want := range wants {
			if !regexp.MustCompile(want).MatchString(card) {
				t.Errorf("the card of %s lacks %q:\n%s", who, want, card)
			}
		}
		if strings.Contains(card, "Initial Build") || strings.Contains(card, "STEP ") {
			t.Errorf("the card of %s has lines about what went well:\n%s", who, card)
		}
	}

	p.write("keys.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {key: value}\n")
	p.replace("Tiltfile", "k8s_yaml('pantry.yaml')", "k8s_yaml(['keys.yaml', 'pantry.yaml'])")
	term.shows(`✔ spoon .*running 1/1`)
	term.shows(`✔ serve +ok`)
	term.quits()
}
