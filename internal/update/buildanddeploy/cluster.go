package buildanddeploy

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/project"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// Cluster applies the objects of resources to one cluster and keeps the ledger of one project in it. It is safe for
// concurrent use.
type Cluster struct {
	dyn     dynamic.Interface
	mapper  meta.RESTMapper
	applier *deploy.Applier
	ledgers *ledger.Ledgers
	own     *ledger.Ledgers // of this machine
	project string
	// holder is the name under which this place holds the objects of the project.
	holder string
	// former are other IDs under which the project may have recorded objects.
	former    []string
	runID     string
	prune     Prune
	beside    func(context.Context) bool
	removePod func(context.Context, k8s.RemovePodRequest) error
	detected  func() string // the UID that identifies the cluster, once the client has detected it; nil without a client
	// env is added to the environment of the user's delete commands.
	env []string
	// address names the cluster if it does not reveal its identity.
	address   string
	title     string
	origin    ledger.Origin
	namespace string // of the lease
	holding   *holding
	// debug is hone's own log.
	debug *slog.Logger
	// tiltfile is the path of the Tiltfile, and tree returns its working tree; nil if that is unknown.
	tiltfile  string
	tree      func() Tree
	revisions revisions

	mu     sync.Mutex
	memory *deploy.Memory // opened at the first use, since that needs the cluster's identity
	// declared holds the delete commands that the Tiltfile declares. Guarded by mu.
	declared map[model.ManifestName]model.Cmd

	// evaluation is the newest evaluation of the Tiltfile that was deployed, number 0 before the first.
	evaluation atomic.Pointer[evaluation]
}

// ClusterOptions configure a Cluster.
type ClusterOptions struct {
	// Ledgers are the ledgers, one of which is the project's.
	Ledgers *ledger.Ledgers
	// Own are the ledgers of this machine. Ledgers take over the records of the project that are still there.
	Own *ledger.Ledgers
	// Project is the owner of the objects.
	Project project.Project
	// RunID is the id of the session; empty for a Cluster that applies nothing.
	RunID string
	// ProjectPath, unless nil, returns the path of the Tiltfile of another project, by its ID; empty if it is not known.
	ProjectPath func(id string) string
	// Namespace is the namespace for whose lease it waits; empty for commands that do not wait for other machines.
	Namespace string
	// Command is the command that deploys, as revisions name it, and Tiltfile the absolute path of the Tiltfile.
	Command, Tiltfile string
	// Tree, unless nil, returns the working tree of the Tiltfile. It is called at most once for each evaluation of the Tiltfile.
	Tree func() Tree
	// Title is the name of the cluster for users.
	Title string
	// Env is added to the environment of the user's delete commands.
	Env []string
	// Debug is hone's own log, which gets each request to the API server. Nil means none.
	Debug *slog.Logger
	// Prune says which objects may be deleted that the Tiltfile no longer declares.
	Prune Prune
	// Beside, unless nil, reports whether another session of the project runs. Objects that it may need are not
	// collected.
	Beside func(context.Context) bool
}

// NewCluster returns a Cluster for a client's API server.
func NewCluster(kube *k8s.Client, o ClusterOptions) (*Cluster, error) {
	config, mapper := kube.RESTConfig(), kube.Mapper()
	config.WarningHandlerWithContext = deploy.Warnings{} // the server's warnings go to the log of the resource
	client, err := kube.Apart(func(config *rest.Config) {
		config.DisableCompression = true // listing 300 Deployments takes half the time
	})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	dyn, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	names, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), client)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	lists, err := k8s.NewLists(config, client)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	deleter, err := deploy.NewDeleter(config, client)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	c := &Cluster{dyn: dyn, mapper: mapper, detected: kube.Identity, removePod: kube.RemovePod, applier: deploy.NewApplier(dyn, mapper, deploy.WithRunID(o.RunID), deploy.WithMetadata(names), deploy.WithLists(lists), deploy.WithDeleter(deleter),
		deploy.WithFormerProjects(o.Project.Former), deploy.WithHolders(o.Project.Holders), deploy.WithProjects(o.ProjectPath)),
		ledgers: o.Ledgers, own: o.Own, project: o.Project.ID, holder: o.Project.Holder(), former: o.Project.Former, runID: o.RunID, prune: o.Prune, beside: o.Beside, env: o.Env,
		address: addressOf(config), revisions: revisions{changed: make(chan struct{}, 1)}, tiltfile: o.Tiltfile, tree: o.Tree, debug: o.Debug, title: o.Title}
	c.origin = ledger.Origin{Run: cmp.Or(o.RunID, rand.Text()), Command: o.Command, By: c.holder}
	if c.namespace = o.Namespace; c.namespace != "" {
		c.holding = newHolding()
	}
	c.evaluation.Store(c.newEvaluation(0, nil))
	return c, nil
}

// addressOf names a cluster by its address and its certificate authority. A cluster that is recreated at the same
// address has a new authority.
func addressOf(config *rest.Config) string {
	authority := config.CAData
	if len(authority) == 0 && config.CAFile != "" {
		authority, _ = os.ReadFile(config.CAFile) // a client that cannot read it does not get this far
	}
	sum := sha256.Sum256(append([]byte(config.Host+"\x00"+config.TLSClientConfig.ServerName+"\x00"), authority...))
	return "at-" + hex.EncodeToString(sum[:8])
}

// ownRun returns the session's id while another session of the project runs, whose objects must not be touched;
// otherwise it is empty.
func (c *Cluster) ownRun(ctx context.Context) string {
	if c.beside != nil && c.beside(ctx) {
		return c.runID
	}
	return ""
}

// Ledger opens the project's ledger in this cluster, including the records under the project's former IDs.
func (c *Cluster) Ledger(ctx context.Context) (*deploy.Memory, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memory != nil {
		return c.memory, nil
	}
	uid, err := c.uid(ctx)
	if err != nil {
		return nil, err
	}
	opened, err := c.ledgers.Open(ctx, ledger.Key{Cluster: uid, Project: c.project}, c.from)
	if err != nil {
		return nil, err
	}
	memory := &deploy.Memory{Ledger: opened}
	for _, from := range []*ledger.Ledgers{c.ledgers, c.own} {
		if from == nil {
			continue
		}
		in, err := from.Storage(ctx)
		if err != nil {
			return nil, err
		}
		if err := memory.TakeIn(in, append([]string{c.project}, c.former...)); err != nil {
			return nil, err
		}
	}
	if c.address != "" { // the right to read a namespace may be new
		if err := memory.TakeInCluster(c.address); err != nil {
			return nil, err
		}
	}
	c.memory = memory
	opened.Follow(c.revisions.take)
	return memory, nil
}

// uid identifies the cluster by its oldest namespace; if that is forbidden, by the default one; if both are, by its
// address. A cluster that has just started makes them only now.
func (c *Cluster) uid(ctx context.Context) (string, error) {
	if c.detected != nil {
		if uid := c.detected(); uid != "" {
			return uid, nil
		}
	}
	pause, began := retry.Backoff{First: 100 * time.Millisecond, Most: time.Second}, time.Now()
	for {
		uid, err := c.firstNamespace(ctx)
		switch {
		case err == nil:
			return uid, nil
		case apierrors.IsForbidden(err) && c.address != "":
			return c.address, nil
		case !apierrors.IsNotFound(err) || time.Since(began) > startTime || !pause.Sleep(ctx):
			return "", fmt.Errorf("identify the cluster: %w", err)
		}
	}
}

// startTime is the longest time for which a cluster may be without its first namespaces after its first answer.
const startTime = 30 * time.Second

func (c *Cluster) firstNamespace(ctx context.Context) (uid string, err error) {
	namespaces := c.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	for _, name := range []string{"kube-system", "default"} {
		ns, found := namespaces.Get(ctx, name, metav1.GetOptions{})
		if err = found; err == nil {
			return string(ns.GetUID()), nil
		}
	}
	return "", err
}

// recorded returns the ledger and the records of all resources.
func (c *Cluster) recorded(ctx context.Context) (*deploy.Memory, map[model.ManifestName][]ledger.Record, error) {
	memory, err := c.Ledger(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, err := memory.Resources()
	return memory, all, err
}

// Prepare reads the cluster's objects of the given resources with few requests, so that deploying an unchanged resource
// needs none of its own, and records the objects of all resources that are deployed automatically with one write of the
// ledger. An error means only that deploying will take longer.
func (c *Cluster) Prepare(ctx context.Context, manifests []model.Manifest, namespace string) error {
	ctx, counted := c.counting(ctx, "prepare")
	defer counted()
	var objects []*unstructured.Unstructured
	records := map[model.ManifestName][]ledger.Record{}
	for _, m := range manifests {
		if m.K8s == nil {
			continue
		}
		var known []*unstructured.Unstructured
		for _, o := range m.K8s.Objects {
			u, ok := c.outline(o, namespace)
			objects = append(objects, u)
			if ok {
				known = append(known, u)
			}
		}
		if m.AutoInit && len(known) > 0 {
			records[m.Name] = deploy.RecordsFor(known)
		}
	}
	var unread error
	var reading sync.WaitGroup
	opened, before := make(chan struct{}), map[model.ObjectID]bool{}
	reading.Go(func() {
		unread = c.applier.Prefetch(ctx, objects, func(id model.ObjectID) bool {
			<-opened
			return before[id]
		})
	})
	c.from() // asks version control, once, before the first deploy has to wait for it
	memory, all, err := c.recorded(ctx)
	for _, list := range all {
		for _, r := range list {
			before[r.ObjectID] = true
		}
	}
	close(opened)
	if err == nil {
		err = memory.RecordAll(records)
	}
	reading.Wait()
	return errors.Join(err, unread)
}

// outline returns an object with everything needed to find it in the cluster. ok is false if the cluster does not know
// the kind yet, so that whether it is namespaced is a guess.
func (c *Cluster) outline(o model.K8sObject, namespace string) (u *unstructured.Unstructured, ok bool) {
	u = &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion(o.APIVersion)
	u.SetKind(o.Kind)
	u.SetName(o.Name)
	u.SetLabels(map[string]string{deploy.LabelProject: c.project})
	gvk := u.GroupVersionKind()
	m, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil || m.Scope.Name() == meta.RESTScopeNameNamespace {
		u.SetNamespace(firstOf(o.Namespace, namespace, "default"))
	}
	return u, err == nil
}

func (c *Cluster) namespaced(ctx context.Context, u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	var m *meta.RESTMapping
	err := k8s.Persist(ctx, func() (err error) {
		m, err = c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		return err
	})
	return err != nil || m.Scope.Name() == meta.RESTScopeNameNamespace
}

// Deploy deploys the resource of the request with the given images: it records and applies the objects, and then
// collects leftovers. The result is valid even with an error.
//
// An *Away error means that the connection to the cluster was lost meanwhile, which is not an error in the resource.
func (c *Cluster) Deploy(ctx context.Context, req Request, images map[string]model.ImageResult) ([]model.AppliedObject, error) {
	ctx, counted := c.counting(ctx, "deploy", req.Manifest.Name)
	defer counted()
	ctx, done, err := c.hold(ctx, req.Log)
	if err != nil {
		return nil, c.lost(ctx, err)
	}
	defer done()
	memory, err := c.Ledger(ctx)
	if err != nil {
		return nil, c.lost(ctx, err)
	}
	end := memory.Update(req.Manifest.Name)
	applied, err := c.deploy(ctx, req, images)
	end(ledger.Outcome{Failed: err != nil, Cancelled: ctx.Err() != nil})
	return applied, c.lost(ctx, err)
}

// lost turns err into an *Away error if the loss of the cluster explains it: the failure may be due to the cluster, and
// the cluster does not answer now either.
func (c *Cluster) lost(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || !deploy.Interrupted(err) {
		return err
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	if _, alive := c.uid(k8s.Patiently(asking, nil)); alive != nil && silent(alive) {
		return &Away{err}
	}
	return err
}

func (c *Cluster) deploy(ctx context.Context, req Request, images map[string]model.ImageResult) ([]model.AppliedObject, error) {
	name := req.Manifest.Name
	if req.Manifest.K8s.CustomDeploy != nil {
		return c.customDeploy(ctx, req, images)
	}
	// Objects that a command of an earlier declaration deployed are deleted first: they may have the same names.
	if err := c.runDelete(ctx, name, req.Log); err != nil {
		return nil, err
	}
	memory, err := c.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	err = k8s.Persist(ctx, func() (err error) {
		objects, err = deploy.Inject(deploy.InjectRequest{Resource: name, Project: c.project, Holder: c.holder, ApplySet: memory.ApplySet(), Namespace: req.Namespace,
			Target: *req.Manifest.K8s, Images: req.Manifest.Images, Results: images, Synclet: req.Synclet}, c.mapper)
		return err
	})
	if err != nil {
		return nil, err
	}
	records := deploy.RecordsFor(objects)
	// From here on no other operation of the session deletes them; after the release, they belong to this resource.
	held, err := c.applier.Claim(ctx, records)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	var before func(model.ObjectID) string
	applied, err := c.applier.Apply(ctx, deploy.ApplyRequest{Resource: name, Objects: objects, Namespace: req.Namespace,
		Timeout: req.UpsertTimeout, Again: req.again(), Adopt: req.Adopt, Restoring: req.Restoring, Reclaim: req.Reclaim, Found: memory, Logger: req.Log,
		Record: func(context.Context) (err error) {
			if err := memory.Record(name, records); err != nil {
				return err
			}
			before, err = c.before(memory, name)
			return err
		},
		Before:   func(id model.ObjectID) string { return before(id) },
		Accepted: memory.Accepted,
		Applied: func(u *unstructured.Unstructured, written bool) {
			if err := memory.Remember(u, written); err != nil { // it only explains
				logstore.Warnf(req.Log, "WARNING: %v", err)
			}
		}})
	if err != nil {
		return applied, err
	}
	var declined []model.ObjectID
	for _, u := range objects {
		if id := deploy.IDOf(u); deploy.AppliedOnce(u) && before(id) != "" {
			declined = append(declined, id)
		}
	}
	if err := c.collect(ctx, memory, req, applied, model.Cmd{}, declined...); err != nil {
		// The leftovers are still in the ledger, so the next deploy tries again; the resource itself is up to date.
		logstore.Warnf(req.Log, "WARNING: %v", err)
	}
	return applied, c.kept(ctx, req, images, objects)
}

// before returns a function that returns the UID of an object that the resource applied before; empty if it did not.
func (c *Cluster) before(memory *deploy.Memory, name model.ManifestName) (func(model.ObjectID) string, error) {
	records, err := memory.Of(name)
	if err != nil {
		return nil, err
	}
	was := map[model.ObjectID]string{}
	for _, r := range records {
		was[r.ObjectID] = r.UID
	}
	return func(id model.ObjectID) string { return was[id] }, nil
}

// collect deletes the leftovers of a resource that was just deployed. declined are declared objects that were not applied on
// purpose; they are no leftovers.
func (c *Cluster) collect(ctx context.Context, memory *deploy.Memory, req Request, applied []model.AppliedObject, command model.Cmd, declined ...model.ObjectID) error {
	keep := func() string { return c.prune.keeps(ctx, c, memory, req.Declared, req.Chosen, req.Namespace) }
	return c.applier.Collect(ctx, deploy.CollectRequest{Memory: memory, Resource: req.Manifest.Name, Applied: applied, Command: command, Declined: declined, Keep: keep, AtRest: req.AtRest, AtOnce: req.Manifest.K8s.PodReadiness == model.PodIgnore,
		Owner: c.owner(ctx, req.Declared, req.Manifest.Name, req.Namespace), RunID: func() string { return c.ownRun(ctx) }, Project: c.project,
		WaitLimit: req.CollectLimit, Timeout: req.UpsertTimeout, Logger: req.Log})
}

// DeleteOptions define the scope of a deletion.
type DeleteOptions struct {
	Namespaces  bool
	Volumes     bool
	Definitions bool
	Wait        bool
	// RunID, if set, restricts the deletion to objects that the session of this id changed last.
	RunID string
	// Pods makes the pods of workloads count: they have to be gone, too.
	Pods bool
	// Removal says why the objects are deleted.
	Removal deploy.Removal
	// WaitLimit is the time for which Wait waits for one object; zero means 5 minutes.
	WaitLimit time.Duration
	// Outcome, unless nil, is called with the outcome of each object.
	Outcome func(deploy.ObjectRef, deploy.DeleteOutcome)
}

// Delete deletes the objects of the given records, dependents first, and drops the records of deleted objects from the
// ledger. It does not touch foreign objects.
func (c *Cluster) Delete(ctx context.Context, o DeleteOptions, records map[model.ManifestName][]ledger.Record, log logstore.Logger) error {
	ctx, counted := c.counting(ctx, "delete", slices.Sorted(maps.Keys(records))...)
	defer counted()
	ctx, done, err := c.hold(patiently(ctx, log), log)
	if err != nil {
		return err
	}
	defer done()
	memory, err := c.Ledger(ctx)
	if err != nil {
		return err
	}
	return c.delete(ctx, memory, o, deploy.DeleteRequest{Logger: log}, records)
}

// delete completes a request, which may hold further steps, and carries it out.
func (c *Cluster) delete(ctx context.Context, memory *deploy.Memory, o DeleteOptions, req deploy.DeleteRequest,
	records map[model.ManifestName][]ledger.Record) (err error) {
	req.Project, req.RunID, req.Removal = c.project, o.RunID, o.Removal
	req.KeepNamespaces, req.KeepVolumes, req.KeepDefinitions = !o.Namespaces, !o.Volumes, !o.Definitions
	req.Wait, req.Look, req.WaitLimit, req.Pods, req.Found = o.Wait, !o.Wait, o.WaitLimit, o.Pods, memory
	for name, list := range records {
		for _, r := range list {
			if !r.Foreign {
				req.Objects = append(req.Objects, deploy.ObjectRef{ObjectID: r.ObjectID, UID: r.UID, Resource: name})
			}
		}
	}
	conclude := concluding(ctx, memory, req, records)
	defer func() { conclude(err) }()
	gone, left := ledger.Records{}, ledger.Records{}
	req.Done = func(ref deploy.ObjectRef, outcome deploy.DeleteOutcome) {
		if o.Outcome != nil {
			o.Outcome(ref, outcome)
		}
		switch is := (ledger.Record{ObjectID: ref.ObjectID, UID: ref.UID}); {
		case outcome.Stays():
		case outcome == deploy.OutcomeGivenBack || outcome == deploy.OutcomeForeign:
			left[ref.Resource] = append(left[ref.Resource], is)
		default:
			gone[ref.Resource] = append(gone[ref.Resource], is)
		}
	}
	err = c.applier.Delete(ctx, req)
	if e := c.drop(ctx, memory, gone, left, req.Accepted != nil); e != nil && ctx.Err() == nil {
		err = errors.Join(err, e)
	}
	return err
}

// concluding notes that the resources of a deletion are about to change. The result notes how it has ended: those have failed of which
// something is still recorded after an error.
func concluding(ctx context.Context, memory *deploy.Memory, req deploy.DeleteRequest, records ledger.Records) func(error) {
	ends := map[model.ManifestName]func(ledger.Outcome){}
	for name, list := range records {
		if len(list) > 0 || slices.ContainsFunc(req.Steps, func(s deploy.DeleteStep) bool { return s.Resource == name }) {
			ends[name] = memory.Update(name)
		}
	}
	return func(failed error) {
		var now ledger.Records
		if failed != nil {
			now, _ = memory.Resources() // an unreadable ledger takes no outcome, either
		}
		for name, end := range ends {
			still, stays := now[name]
			if list := records[name]; len(list) > 0 {
				stays = slices.ContainsFunc(list, func(r ledger.Record) bool {
					return slices.ContainsFunc(still, func(s ledger.Record) bool { return s.ObjectID == r.ObjectID })
				})
			}
			end(ledger.Outcome{Failed: stays, Cancelled: ctx.Err() != nil})
		}
	}
}

// drop drops the records of objects that are gone, and of those that are left to others. Objects that were given back meanwhile may be
// created again at this moment: then the record of the deploy counts.
func (c *Cluster) drop(ctx context.Context, memory *deploy.Memory, gone, left ledger.Records, givenBack bool) error {
	if len(gone)+len(left) == 0 {
		return nil
	}
	if givenBack {
		held, err := c.applier.Claim(ctx, slices.Concat(slices.Concat(slices.Collect(maps.Values(gone))...), slices.Concat(slices.Collect(maps.Values(left))...)))
		if err != nil { // the next deletion notices that they are gone
			return err
		}
		defer held.Release()
	}
	return memory.Drop(gone, left)
}

// patiently returns a context in which requests are retried that fail only because the API server is busy or the
// connection broke, and logs the waits.
func patiently(ctx context.Context, log logstore.Logger) context.Context {
	return k8s.Patiently(ctx, func(w k8s.Wait) {
		if w.Why != "" {
			logstore.Infof(log, "%s", w)
		}
	})
}

// Objects returns the records of a resource as the Tiltfile declares it, for deleting objects that are in no ledger.
func (c *Cluster) Objects(ctx context.Context, m model.Manifest, namespace string) []ledger.Record {
	return c.objects(m, namespace, c.scopes(ctx))
}

// scopes returns a version of namespaced that asks once for each kind: with hundreds of objects, the answers take noticeable time.
func (c *Cluster) scopes(ctx context.Context) func(apiVersion, kind string) bool {
	known := map[[2]string]bool{}
	return func(apiVersion, kind string) bool {
		is, ok := known[[2]string{apiVersion, kind}]
		if !ok {
			u := &unstructured.Unstructured{Object: map[string]any{}}
			u.SetAPIVersion(apiVersion)
			u.SetKind(kind)
			is = c.namespaced(ctx, u)
			known[[2]string{apiVersion, kind}] = is
		}
		return is
	}
}

func (c *Cluster) objects(m model.Manifest, namespace string, namespaced func(apiVersion, kind string) bool) []ledger.Record {
	var out []ledger.Record
	for _, o := range m.K8s.Objects {
		id := o.ID()
		if id.Namespace == "" && namespaced(o.APIVersion, o.Kind) {
			id.Namespace = firstOf(namespace, "default")
		}
		out = append(out, ledger.Record{ObjectID: id, APIVersion: o.APIVersion})
	}
	return out
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
