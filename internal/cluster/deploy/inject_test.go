package deploy

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

// TestInject runs the scenarios of testdata/inject: each txtar has the declared objects (in.yaml), the images
// (images.yaml) and the result: objects (out.yaml), or a problem (error.txt).
func TestInject(t *testing.T) {
	files, err := filepath.Glob("testdata/inject/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { injectScenario(t, file) })
	}
}

// imageYAML describes one image of a scenario.
type imageYAML struct {
	Ref        string    `json:"ref"`
	Cluster    string    `json:"cluster"`
	DependsOn  []string  `json:"dependsOn"`
	MatchEnv   bool      `json:"matchInEnvVars"`
	Entrypoint []string  `json:"entrypoint"`
	Args       *[]string `json:"args"`
	Path       string    `json:"path"`
	Object     string    `json:"object"`
	Group      string    `json:"group"`
	Kind       string    `json:"kind"`
	RepoField  string    `json:"repoField"`
	TagField   string    `json:"tagField"`
	// Synclet puts the program into the image's containers.
	Synclet *syncletYAML `json:"synclet"`
}

type syncletYAML struct {
	Run   bool   `json:"run"`
	Watch string `json:"watch"`
	// Image is the image's own command, omitted if it is unknown.
	Image *ImageCommand `json:"image"`
}

func injectScenario(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	part := func(name string) string {
		for _, f := range archive.Files {
			if f.Name == name {
				return string(f.Data)
			}
		}
		return ""
	}
	req := InjectRequest{Resource: "web", Project: "project1", Namespace: "dev", Results: map[string]model.ImageResult{}}
	req.Target.Objects = objectsOf(t, part("in.yaml"))
	var images []imageYAML
	if err := yaml.UnmarshalStrict([]byte(part("images.yaml")), &images); err != nil {
		t.Fatal(err)
	}
	for _, im := range images {
		target := model.ImageTarget{Ref: im.Ref, DependsOn: im.DependsOn, MatchInEnvVars: im.MatchEnv,
			Entrypoint: im.Entrypoint, ContainerArgs: im.Args}
		if s := im.Synclet; s != nil {
			if req.Synclet == nil {
				req.Synclet = &SyncletInjection{Image: "localhost:5000/hone-synclet:1", Uses: map[string]SyncletUse{}}
			}
			req.Synclet.Uses[im.Ref] = SyncletUse{Run: s.Run, Command: s.Image}
			target.LiveUpdate.RestartProcess = &model.RestartProcess{File: s.Watch}
		}
		req.Images = append(req.Images, target)
		req.Results[im.Ref] = model.ImageResult{Cluster: im.Cluster}
		if im.Path != "" {
			req.Target.ImageLocators = append(req.Target.ImageLocators, model.ImageLocator{Path: im.Path, RepoField: im.RepoField,
				TagField: im.TagField, Object: model.ObjectID{Group: im.Group, Kind: im.Kind, Name: im.Object}})
		}
	}
	objects, err := Inject(req, nil)
	want, got := "out.yaml", toYAML(t, objects)
	if err != nil {
		want, got = "error.txt", problem.Text(err)+"\n"
	}
	if *update {
		archive.Files = append(archive.Files[:2:2], txtar.File{Name: want, Data: []byte(got)})
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(part(want), got); diff != "" {
		t.Errorf("%s differs (-update rewrites it):\n%s", want, diff)
	}
	again, _ := Inject(req, nil)
	if diff := cmp.Diff(objects, again); diff != "" {
		t.Errorf("the same request gives another result:\n%s", diff)
	}
	if err == nil {
		injectRecorded(t, req, objects)
	}
	if req.Synclet != nil && err == nil {
		injectTwice(t, req, objects)
	}
}

// injectRecorded injects into objects as the ledger has recorded them, as a rollback does. They are the same as before, so that the next
// deploy of the unchanged Tiltfile has nothing to write.
func injectRecorded(t *testing.T, req InjectRequest, objects []*unstructured.Unstructured) {
	req.Images, req.Results, req.Synclet, req.Target = nil, nil, nil, model.K8sTarget{}
	for _, u := range objects {
		raw, err := u.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		req.Target.Objects = append(req.Target.Objects, model.K8sObject{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), JSON: string(raw)})
	}
	restored, err := Inject(req, nil)
	if diff := cmp.Diff(toYAML(t, objects), toYAML(t, restored)); err != nil || diff != "" {
		t.Errorf("a rollback to the same objects changes them: %v\n%s", err, diff)
	}
}

// injectTwice adds the synclet to pods that already have it.
func injectTwice(t *testing.T, req InjectRequest, objects []*unstructured.Unstructured) {
	images, err := newImageSet(req.Images, req.Results)
	if err != nil {
		t.Fatal(err)
	}
	in := injector{req: req, images: images}
	for _, u := range objects {
		once := u.DeepCopy()
		for _, spec := range podSpecs(u) {
			if err := in.synclet(spec); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(once, u); diff != "" {
			t.Errorf("%s: the second time changes it:\n%s", u.GetName(), diff)
		}
	}
}

func toYAML(t *testing.T, objects []*unstructured.Unstructured) string {
	var docs []string
	for _, u := range objects {
		raw, err := yaml.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, string(raw))
	}
	return strings.Join(docs, "---\n")
}

func TestInjectHashFollowsContent(t *testing.T) {
	hashes := func(text, tag string) (object, template string) {
		objects, err := Inject(InjectRequest{Resource: "web", Project: "p", Target: model.K8sTarget{Objects: objectsOf(t, text)},
			Images: []model.ImageTarget{{Ref: "busybox"}}, Results: map[string]model.ImageResult{"busybox": {Cluster: "busybox:" + tag}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return annotation(objects[0], AnnotationAppliedHash), applied(objects[0]).TemplateHash
	}
	o1, t1 := hashes(deploymentYAML("web", "web", "80"), "a")
	o2, t2 := hashes(deploymentYAML("web", "web", "80"), "b")
	o3, t3 := hashes(strings.Replace(deploymentYAML("web", "web", "80"), "replicas: 0", "replicas: 2", 1), "a")
	if o1 == o2 || t1 == t2 {
		t.Error("another image gives the same hash")
	}
	if o1 == o3 || t1 != t3 {
		t.Error("the template's hash must follow the template only, the object's everything")
	}
}

func TestInjectKeepsTheRequest(t *testing.T) {
	req := InjectRequest{Resource: "web", Target: model.K8sTarget{Objects: objectsOf(t, deploymentYAML("web", "web", "80"))},
		Images: []model.ImageTarget{{Ref: "busybox"}}, Results: map[string]model.ImageResult{"busybox": {Cluster: "x:1"}}}
	before := req.Target.Objects[0].JSON
	if _, err := Inject(req, nil); err != nil {
		t.Fatal(err)
	}
	if req.Target.Objects[0].JSON != before {
		t.Error("the request was changed")
	}
}

func FuzzInject(f *testing.F) {
	files, _ := filepath.Glob("testdata/inject/*.txtar")
	for _, file := range files {
		if archive, err := txtar.ParseFile(file); err == nil {
			f.Add(string(archive.Files[0].Data), "api", "{.spec.image}")
		}
	}
	f.Add("apiVersion: v1\nkind: Pod\nmetadata: {name: x, labels: 3}\nspec: {containers: [{env: 3}, 4, null]}", "a:b", "{.spec[?(@.a=='b')]}")
	f.Add("kind: 3", "", "[")
	f.Fuzz(func(t *testing.T, text, ref, path string) {
		var objects []model.K8sObject
		for doc := range strings.SplitSeq(text, "\n---\n") {
			if o, err := objectOf([]byte(doc)); err == nil {
				objects = append(objects, o)
			}
		}
		target := model.K8sTarget{Objects: objects}
		for _, o := range objects {
			target.ImageLocators = append(target.ImageLocators, model.ImageLocator{Object: o.ID(), Path: path})
		}
		req := InjectRequest{Resource: "fuzz/ed", Project: "p", Target: target, Images: []model.ImageTarget{{Ref: ref, MatchInEnvVars: true}},
			Results: map[string]model.ImageResult{ref: {Cluster: "registry:5000/x:tag"}}}
		once, err := Inject(req, nil)
		twice, _ := Inject(req, nil)
		if err != nil {
			return
		}
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Fatalf("not deterministic: %s", diff)
		}
		for _, u := range once {
			if label(u, LabelManagedBy) != ManagedByHone || annotation(u, AnnotationAppliedHash) == "" {
				t.Fatalf("not marked: %v", u.Object)
			}
			raw, err := json.Marshal(u.Object)
			if err != nil {
				t.Fatal(err)
			}
			live := &unstructured.Unstructured{}
			if err := live.UnmarshalJSON(raw); err != nil {
				t.Fatal(err)
			}
			if !unchanged(u, live) {
				t.Fatalf("an object differs from itself: %s", raw)
			}
		}
		_, _ = newGraph(once)
	})
}
