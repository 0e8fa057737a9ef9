package engine

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wing is a folder of internal.
type wing struct {
	name string
	// rooms are the wing's packages, each with its subpackages. A room may import rooms of lower floors, which "<"
	// separates; "." is the package of the wing itself, and "*" every room that is not named.
	rooms string
	// uses are the wings, or single rooms of them, that it may import.
	uses string
	// says is the purpose of the wing, and its limits.
	says string
}

// wings are the plan of the house, from the ground up. Everything may import pkg.
var wings = []wing{
	{"base", "atomicfile bug checkout clipboard dag discovery filelock heap imageref jsonpath logline problem rawfile retry suggest tailfile words workers yamltext < logstore outputfile project terminal < editor logquery patience process operation testresults", "",
		"What every other wing stands on: logs, processes, files, and problems that the user can act on. It has no notion of sessions, clusters or engines."},
	{"loop", "store < state < buildcontrol events < intent waterfall < shell status < settle", "base",
		"The session's state: the one loop, the tables with their actions and reducers, and pure functions of a snapshot. It talks to nothing outside the process and starts no goroutine except the loop's."},
	{"cluster", "k8s < storage < ledger < deploy podlogs portforward builderpod podregistry", "base",
		"The connection to Kubernetes: the client, and deploying, logs and port forwards on top of it. It does not depend on the session's state."},
	{"containers", "docker < buildkit compose", "base",
		"The connection to container engines and to builders of images: the clients, and Compose on top of one. It does not depend on the session's state."},
	{"tiltfile", "language extension dialect file memo profile version yamlstream < fault identity value lsp < hint command < eval k8sobject" +
		" < config ignore interpreter kubecontext native renderer resource secret settings stdlib v1alpha1 < image local" +
		" < kubernetes dockercompose < .", "base containers/compose",
		"The Tiltfile language: its evaluation, its extensions, the description of every name, and the language server. It yields a model and does not depend on the session that runs it. Each topic of the language is a package, which holds the topic's declarations and names its builtins. A topic imports only packages below it; tiltfile on top connects the topics."},
	{"update", "agent watch < liveupdate imagebuild unwatched < synclet verdict < buildanddeploy", "base cluster containers",
		"How a saved file gets into the cluster: watching, planning, live updates, image builds, and the chain that tries them in turn. It does not depend on the session's state."},
	{"subscribers", "clusterwatch runner < *", "base loop cluster containers tiltfile update",
		"The owners of side effects, one package each: a subscriber reads snapshots, makes the world match them, and dispatches the results. It is the only wing that depends on both the loop and the packages that act, and its rooms never import each other."},
	{"hud", "settings text < view hudtest loglist < attention < screen stream < .", "base loop",
		"What the terminal shows. It only reads snapshots and dispatches the user's requests."},
	{"api", "schema redact < projection page < tables < snapshot < server", "base loop tiltfile/extension",
		"What the session shows to other programs: its objects, its tables, snapshots as files, and the server for all of it. It only reads snapshots and dispatches clients' requests."},
	{"client", "sessions objects < tunnel < .", "base",
		"The other side of the API: finding a running session, and reading, awaiting and changing its objects. It shares no code with the server."},
	{"engine", ".", "base loop cluster containers tiltfile update subscribers api",
		"The subscribers that a session runs, and their contracts with each other."},
	{"cli", "standby < crash < doctor cireport resourcegraph survey command < flags reference < shell opened answers < object session tiltfiles < mcp < up self < .", "base loop cluster containers tiltfile update hud api client engine",
		"The command line: its commands, the wiring of a session, and the one place where errors are printed. Only cmd/hone imports it."},
	{"test", "freeport hostile < attackers proxy testnames witness < harness < declared < bench chaos e2e readability screens scripts systems", "base loop cluster containers tiltfile update hud/text api client",
		"Tests and measurements of the whole: the binary driven end to end, benchmarks, and fault injection. No other wing imports it, except in tests."},
}

// limit forbids packages that match in to import packages that match not. Packages that match unless are exempt.
type limit struct{ in, not, unless, because string }

var limits = []limit{
	{`^pkg/`, `^(internal|cmd)/`, ``, "pkg is what others may import: it depends on none of our other packages"},
	{`^cmd/`, `^internal/`, `^cmd/(hone|synclet)$`, "a command only calls a package"},
	{`^internal/loop/buildcontrol$`, `^internal/base/`, ``, "deciding is pure: it reads only a snapshot"},
	{`^(cmd/synclet$|internal/update/agent(/|$))`, `\.|^internal/[^u]`, ``, "the program in the container uses only the standard library"},
	{`^internal/cli/standby$`, `\.|^internal/`, ``, "the process that waits for a crash needs nothing that takes time to initialize"},
	{`.`, `^k8s\.io/client-go`, `^internal/(cluster/k8s|cluster/deploy|client/objects|base/discovery)(/|$)|^internal/(update/buildanddeploy|client|test/bench)$`,
		"client-go stops at its wrapper, at the clients of the session's own API, which speaks the same way, at what asks both for their kinds, and at the bench, which plays a node of a cluster"},
	{`.`, `^github\.com/docker/docker`, `^internal/containers/docker(/|$)`, "the Docker client stops at its wrapper"},
	{`.`, `^github\.com/(rivo/tview|gdamore/tcell)`, `^internal/hud(/screen)?$`, "the terminal library stops at the screen"},
	{`.`, `^(github\.com/compose-spec|go\.yaml\.in/yaml/v4)`, `^internal/(containers/compose|hud/settings|cli/survey|tiltfile/yamlstream)$`, "the Compose library stops at its wrapper and at the survey, which turns its model into objects, and YAML with line numbers where files are read"},
	{`^internal/cluster/storage/(kube|sql)$`, `^time$`, ``, "writers are told apart by versions: the clocks of their machines may be wrong"},
	{`.`, `^github\.com/aws/`, `^internal/cluster/storage/s3$`, "the signer of requests to object stores stops at the storage in them"},
	{`.`, `^(github\.com/jackc|modernc\.org)/`, `^internal/cluster/storage/sql$`, "the drivers of databases stop at the storage in them"},
	{`.`, `^go\.starlark\.net`, `^internal/tiltfile(/|$)`, "Starlark stops at the wing that evaluates Tiltfiles"},
	{`^internal/tiltfile/(language|extension|file|memo|profile|version|yamlstream|command|k8sobject)$`, `^go\.starlark\.net`, ``, "packages that need no Starlark do not import it"},
	{`.`, `^github\.com/modelcontextprotocol`, `^internal/cli/mcp$`, "the SDK of the Model Context Protocol stops at its tools"},
	{`.`, `^github\.com/bazelbuild`, `^internal/tiltfile/lsp$`, "the formatter stops at its wrapper"},
	{`^internal/tiltfile/(language|lsp)$`, `^internal/(base/[^s]|containers)`, ``, "answers to editors need neither the interpreter nor a session"},
}

// place is the position of a package in the plan.
type place struct {
	wing *wing
	room string // of the wing, "." for the wing's own package
	at   int    // floor
}

// placeOf finds a package below internal by its path in the module; ok is false when the plan has no place for it.
func placeOf(pkg string) (p place, ok bool) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(pkg, "internal/"), "/")
	i := slices.IndexFunc(wings, func(w wing) bool { return w.name == name })
	if i < 0 {
		return p, false
	}
	p.wing, p.room = &wings[i], rest
	if rest == "" {
		p.room = "."
	}
	p.room, _, _ = strings.Cut(p.room, "/")
	anywhere := -1
	for floor, rooms := range strings.Split(p.wing.rooms, "<") {
		for _, room := range strings.Fields(rooms) {
			switch room {
			case p.room:
				p.at = floor
				return p, true
			case "*":
				anywhere = floor
			}
		}
	}
	p.at = anywhere
	return p, anywhere >= 0 && p.room != "."
}

// allows reports whether a package at p may import one at q.
func (p place) allows(q place) bool {
	if p.wing == q.wing {
		return p.room == q.room || q.at < p.at
	}
	uses := strings.Fields(p.wing.uses)
	return slices.Contains(uses, q.wing.name) || slices.Contains(uses, q.wing.name+"/"+q.room)
}

// TestPlan checks the plan itself: a wing uses only those before it.
func TestPlan(t *testing.T) {
	for i, w := range wings {
		for _, use := range strings.Fields(w.uses) {
			p, ok := placeOf("internal/" + use)
			if !ok && slices.ContainsFunc(wings, func(w wing) bool { return w.name == use }) {
				ok, p.wing = true, &wings[slices.IndexFunc(wings, func(w wing) bool { return w.name == use })]
			}
			if !ok || !slices.ContainsFunc(wings[:i], func(w wing) bool { return w.name == p.wing.name }) {
				t.Errorf("%s uses %s, which is not below it", w.name, use)
			}
		}
	}
}

// TestImports checks the directions of imports. Every package has its place in the plan.
func TestImports(t *testing.T) {
	for pkg, imports := range packages(t) {
		from, placed := placeOf(pkg)
		if strings.HasPrefix(pkg, "internal/") && !placed {
			t.Errorf("%s has no place in the plan of the wings", pkg)
			continue
		}
		for _, im := range imports {
			if to, ok := placeOf(im); placed && strings.HasPrefix(im, "internal/") && ok && !from.allows(to) {
				t.Errorf("%s imports %s: %s may import %q, and rooms of the floors below in its own wing", pkg, im, from.wing.name, from.wing.uses)
			}
			for _, l := range limits {
				if regexp.MustCompile(l.in).MatchString(pkg) && regexp.MustCompile(l.not).MatchString(im) &&
					(l.unless == "" || !regexp.MustCompile(l.unless).MatchString(pkg)) {
					t.Errorf("%s imports %s: %s", pkg, im, l.because)
				}
			}
		}
	}
}

// forTests matches the packages that hold fakes, suites and drivers.
var forTests = regexp.MustCompile(`^internal/(test(/|$)|.*test$)`)

// TestProductNeedsNoTests checks that only tests, and the packages for them, import packages for tests.
func TestProductNeedsNoTests(t *testing.T) {
	for pkg, imports := range packages(t) {
		for _, im := range imports {
			if forTests.MatchString(im) && !forTests.MatchString(pkg) {
				t.Errorf("%s imports %s, which is for tests", pkg, im)
			}
		}
	}
}

// TestPlanRefuses checks that the plan forbids the imports that it is meant to forbid.
func TestPlanRefuses(t *testing.T) {
	for pkg, im := range map[string]string{
		"internal/loop/store":               "internal/loop/state",
		"internal/loop/state":               "internal/cluster/k8s",
		"internal/cluster/k8s":              "internal/cluster/deploy",
		"internal/cluster/podlogs":          "internal/cluster/portforward",
		"internal/subscribers/collector":    "internal/subscribers/podwatcher",
		"internal/subscribers/pruner":       "internal/api/server",
		"internal/hud/view":                 "internal/hud/screen",
		"internal/hud":                      "internal/cluster/k8s",
		"internal/api/server/rest":          "internal/tiltfile",
		"internal/update/liveupdate":        "internal/update/synclet",
		"internal/update/agent/protocol":    "internal/update/liveupdate",
		"internal/client":                   "internal/api/server",
		"internal/engine":                   "internal/cli",
		"internal/base/logstore":            "internal/loop/store",
		"internal/containers/docker":        "internal/cluster/k8s",
		"internal/tiltfile/lsp":             "internal/tiltfile",
		"internal/tiltfile/eval":            "internal/tiltfile/image",
		"internal/tiltfile/image":           "internal/tiltfile/kubernetes",
		"internal/tiltfile/kubernetes":      "internal/tiltfile/dockercompose",
		"internal/update/imagebuild":        "internal/loop/state",
		"internal/cli/cireport":             "internal/test/harness",
		"internal/subscribers/clusterwatch": "internal/subscribers/pruner",
	} {
		from, ok1 := placeOf(pkg)
		to, ok2 := placeOf(im)
		if !ok1 || !ok2 || from.allows(to) {
			t.Errorf("%s may import %s (places: %t, %t)", pkg, im, ok1, ok2)
		}
	}
	for _, pkg := range []string{"internal/new", "internal/cluster/new", "internal/subscribers", "internal/loop"} {
		if _, ok := placeOf(pkg); ok {
			t.Errorf("%s has a place", pkg)
		}
	}
}

// TestWingPages keeps the page of each wing in step with the plan and the packages' own sentences.
func TestWingPages(t *testing.T) {
	rooms := map[string][]string{} // by wing
	for pkg := range packages(t) {
		if p, ok := placeOf(pkg); ok {
			rooms[p.wing.name] = append(rooms[p.wing.name], pkg)
		}
	}
	for _, w := range wings {
		slices.Sort(rooms[w.name])
		file := filepath.Join("..", w.name, "README.md")
		fresh(t, file, wingPage(t, w, rooms[w.name]))
	}
}

// TestReadmeNamesWings checks that internal/README.md has a row for each wing, and that each folder is one.
func TestReadmeNamesWings(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var named, planned, there []string
	for _, row := range regexp.MustCompile("(?m)^\\| \\[`([a-z]+)`\\]\\(([a-z]+)/README.md\\) \\|").FindAllStringSubmatch(string(text), -1) {
		named = append(named, row[1])
	}
	for _, w := range wings {
		planned = append(planned, w.name)
	}
	if diff := cmp.Diff(planned, named); diff != "" {
		t.Errorf("wings (-planned +named in the README):\n%s", diff)
	}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			there = append(there, e.Name())
		}
	}
	slices.Sort(planned)
	if diff := cmp.Diff(planned, there); diff != "" {
		t.Errorf("folders (-planned +there):\n%s", diff)
	}
}

func wingPage(t *testing.T, w wing, packages []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", w.name, w.says)
	may := "nothing of hone but pkg"
	if w.uses != "" {
		may = "pkg, " + strings.Join(strings.Fields(w.uses), ", ")
	}
	fmt.Fprintf(&b, "May import: %s.", may)
	if floors := strings.Split(w.rooms, "<"); len(floors) > 1 {
		for i := range floors {
			floors[i] = strings.Join(strings.Fields(strings.NewReplacer(".", w.name, "*", "all others").Replace(floors[i])), ", ")
		}
		fmt.Fprintf(&b, " Inside, from the bottom up: %s.", strings.Join(floors, "; then "))
	}
	b.WriteString("\n\n| package | |\n|---|---|\n")
	for _, pkg := range packages {
		name := strings.TrimPrefix(pkg, "internal/"+w.name+"/")
		if pkg == "internal/"+w.name {
			name = w.name
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, sentence(t, pkg))
	}
	return b.Bytes()
}

// sentence returns the first sentence of a package's comment, without its first two words.
func sentence(t *testing.T, pkg string) string {
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(f.Doc.Text()), " ")
		rest, ok := strings.CutPrefix(text, "Package "+path.Base(pkg)+" ")
		if !ok {
			rest, ok = strings.CutPrefix(text, "Command "+path.Base(pkg)+" ")
		}
		if !ok {
			continue
		}
		if i := strings.Index(rest+" ", ". "); i >= 0 {
			rest = rest[:i]
		}
		return strings.ReplaceAll(rest, "|", `\|`)
	}
	t.Errorf("%s has no package comment", pkg)
	return ""
}

// fresh compares a generated file with its expected content, or writes it.
func fresh(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), string(want)); diff != "" {
		t.Errorf("%s is stale, run make generate:\n%s", file, diff)
	}
}
