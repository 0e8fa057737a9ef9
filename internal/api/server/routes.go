package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/api/page"
	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// route is a path that hone serves itself.
type route struct {
	// pattern is a pattern of http.ServeMux: "GET /api/view".
	pattern string
	// needs is the permission that its actor must have.
	needs api.Permission
	serve http.HandlerFunc
	// about describes it in the OpenAPI document.
	about about
}

// routes returns hone's own routes. Those that change something take JSON, which no form of a web page can send.
func (s *Subscriber) routes(src *source) []route {
	return []route{
		{"GET /api/view", api.PermissionStatus, func(w http.ResponseWriter, r *http.Request) { s.view(src, w, r) }, about{gives: api.View{}}},
		{"GET /api/status", api.PermissionStatus, func(w http.ResponseWriter, r *http.Request) { s.status(src, w, r) }, about{gives: api.Status{}}},
		{"GET /api/why", api.PermissionStatus, func(w http.ResponseWriter, r *http.Request) { s.why(src, w, r) }, about{query: []string{"resource"}, gives: api.Why{}}},
		{"GET /api/shell", api.PermissionExec, func(w http.ResponseWriter, r *http.Request) { s.shell(src, w, r) }, about{query: []string{"resource", "pod", "container"}, gives: api.Shell{}}},
		{"GET /api/plan", api.PermissionPreview, func(w http.ResponseWriter, r *http.Request) { s.plan(src, w, r) }, about{gives: api.Plan{}}},
		{"GET /api/revision", api.PermissionPreview, func(w http.ResponseWriter, r *http.Request) { s.revision(src, w, r) }, about{query: []string{"number", "cluster"}, gives: api.Plan{}}},
		{"POST /api/confirm", api.PermissionDeploy, wantsJSON(func(w http.ResponseWriter, r *http.Request) { confirm(src, w, r) }), about{takes: api.ConfirmRequest{}, gives: api.ConfirmResult{}}},
		{"POST /api/trigger", api.PermissionTrigger, intentOf(src, trigger), about{takes: api.TriggerRequest{}}},
		{"POST /api/restart", api.PermissionRestart, intentOf(src, restart), about{takes: api.RestartRequest{}}},
		{"POST /api/mode", api.PermissionEnable, intentOf(src, mode), about{takes: api.ModeRequest{}}},
		{"POST /api/restore", api.PermissionDeploy, intentOf(src, restore), about{takes: api.DriftRequest{}}},
		{"POST /api/accept", api.PermissionDeploy, intentOf(src, accept), about{takes: api.DriftRequest{}}},
		{"POST /api/adopt", api.PermissionDeploy, intentOf(src, adopt), about{takes: api.AdoptRequest{}}},
		{"POST /api/prune", api.PermissionDeploy, intentOf(src, prune), about{takes: api.PruneRequest{}}},
		{"POST /api/pause", api.PermissionPause, wantsJSON(func(w http.ResponseWriter, r *http.Request) { pause(src, w, r) }), about{takes: api.PauseRequest{}, gives: api.PauseResult{}}},
		{"POST /api/forwards", api.PermissionForward, intentOf(src, forward), about{takes: api.ForwardRequest{}}},
		{"POST /api/click", api.PermissionButton, intentOf(src, click), about{takes: api.ClickRequest{}}},
		{"POST /api/switch", api.PermissionEnable, wantsJSON(func(w http.ResponseWriter, r *http.Request) { switchResources(src, w, r) }), about{takes: api.SwitchRequest{}, gives: api.SwitchResult{}}},
		{"POST /api/taken_down", api.PermissionDeploy, wantsJSON(func(w http.ResponseWriter, r *http.Request) { s.takenDown(src, w, r) }), about{takes: api.TakenDownRequest{}}},
		{"POST /api/turn", api.PermissionDeploy, wantsJSON(func(w http.ResponseWriter, r *http.Request) { s.deployLock(src, w, r) }), about{takes: api.DeployLockRequest{}, gives: api.DeployLock{}, media: mediaLines}},
		{"POST /api/settle", api.PermissionSettle, wantsJSON(func(w http.ResponseWriter, r *http.Request) { s.settle(src, w, r) }), about{takes: struct{}{}, gives: api.Settled{}}},
		{"POST /api/settle/report", api.PermissionSettle, wantsJSON(func(w http.ResponseWriter, r *http.Request) { s.settleReport(src, w, r) }), about{takes: api.SettleRequest{}, gives: api.SettleReport{}}},
		{"POST /api/test", api.PermissionTest, wantsJSON(func(w http.ResponseWriter, r *http.Request) { s.test(src, w, r) }), about{takes: api.TestRequest{}, gives: api.TestReport{}}},
		{"POST /api/set_tiltfile_args", api.PermissionArgs, wantsJSON(func(w http.ResponseWriter, r *http.Request) { setArgs(src, w, r) }), about{takes: []string{}}},
		{"GET /api/logs", api.PermissionLogs, func(w http.ResponseWriter, r *http.Request) { s.logs(src, w, r) }, about{query: []string{"follow", "tail", "format"}, filters: true, gives: api.LogLine{}, media: mediaLines}},
		{"GET /api/logs/window", api.PermissionLogs, func(w http.ResponseWriter, r *http.Request) { s.logWindow(src, w, r) }, about{query: []string{"from", "count"}, filters: true, gives: api.LogWindow{}}},
		{"GET /api/logs/find", api.PermissionLogs, func(w http.ResponseWriter, r *http.Request) { s.logFind(src, w, r) }, about{query: []string{"find", "back", "from", "seq"}, filters: true, gives: api.LogFound{}}},
		{"GET /api/page", api.PermissionLogs, func(w http.ResponseWriter, r *http.Request) { s.page(src, w, r) }, about{query: []string{"since", "detail", "log", "follow"}, gives: api.Page{}, also: []any{api.LogNews{}}, media: mediaEvents}},
		{"GET /api/waits", api.PermissionStatus, func(w http.ResponseWriter, r *http.Request) { s.waits(src, w, r) }, about{gives: api.Waits{}}},
		{"GET /api/waterfall", api.PermissionStatus, func(w http.ResponseWriter, r *http.Request) { s.waterfall(src, w, r) }, about{gives: api.Waterfall{}}},
		{"GET /api/architecture", api.PermissionStatus, func(w http.ResponseWriter, r *http.Request) { s.architecture(src, w, r) }, about{gives: api.Architecture{}}},
		{"GET /api/events", api.PermissionStatus, func(w http.ResponseWriter, r *http.Request) { s.events(src, w, r) }, about{query: []string{"since", "resource", "type", "follow"}, gives: api.Event{}, media: mediaLines}},
		{"GET /api/dump/engine", api.PermissionSnapshot, s.dump(src, func(ctx context.Context, of snapshot.Session, w io.Writer) error {
			return of.WriteEngine(ctx, w, src)
		}), about{gives: api.EngineDump{}}},
		{"GET /api/dump/logstore", api.PermissionSnapshot, s.dump(src, func(ctx context.Context, of snapshot.Session, w io.Writer) error { return of.WriteLogs(ctx, w) }), about{gives: api.LogDump{}}},
		{"GET /api/snapshot", api.PermissionStatus, s.writeSnapshot(src), about{query: []string{"logs"}, gives: api.Snapshot{}}},
		{"GET /api/snapshot/follow", api.PermissionStatus, func(w http.ResponseWriter, r *http.Request) { s.followed(src, w, r) }, about{query: []string{"screen"}, gives: api.Snapshot{}, also: []any{api.SnapshotChange{}}, media: mediaLines}},
		{"POST /api/screen", api.PermissionOwner, intentOf(src, screen), about{takes: api.ScreenRequest{}}},
		{"GET /api/object", api.PermissionStatus, func(w http.ResponseWriter, r *http.Request) { s.object(src, w, r) }, about{query: []string{"uid"}, gives: api.Object{}}},
		{"GET /api/previous", api.PermissionLogs, func(w http.ResponseWriter, r *http.Request) { s.previous(src, w, r) }, about{query: []string{"resource", "namespace", "pod", "container"}, gives: api.PreviousRun{}}},
		{"POST /api/ticket", api.PermissionOwner, wantsJSON(func(w http.ResponseWriter, r *http.Request) { s.ticket(src, w, r) }), about{takes: api.TicketRequest{}, gives: api.Ticket{}}},
		{"GET /api/tokens", api.PermissionOwner, s.tokens, about{gives: api.TokenList{}}},
		{"POST /api/token", api.PermissionOwner, wantsJSON(s.createToken), about{takes: api.TokenRequest{}, gives: api.Token{}}},
		{"POST /api/token/revoke", api.PermissionOwner, wantsJSON(s.revokeToken), about{takes: api.TokenRevocation{}}},
		{"POST /api/kubeconfig", api.PermissionOwner, wantsJSON(func(w http.ResponseWriter, r *http.Request) { s.kubeconfig(src, w, r) }), about{takes: api.KubeconfigRequest{}, gives: api.Kubeconfig{}}},
		{"POST /api/stop", api.PermissionStop, wantsJSON(s.stop), about{takes: struct{}{}}},
	}
}

// missed handles requests that no route takes: an unknown path, or a path with the wrong method.
func missed(all []route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var methods []string
		for _, route := range all {
			if method, path, _ := strings.Cut(route.pattern, " "); path == r.URL.Path {
				methods = append(methods, method)
			}
		}
		if methods != nil {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			refuse(w, r, http.StatusMethodNotAllowed, fmt.Sprintf("%s takes %s", words.Clip(r.URL.Path, access.MostEchoed), strings.Join(methods, ", ")))
			return
		}
		refuse(w, r, http.StatusNotFound, fmt.Sprintf("unknown path %s", words.Clip(r.URL.Path, access.MostEchoed)))
	}
}

func wantsJSON(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
			fail(w, http.StatusUnsupportedMediaType, "send JSON, with Content-Type: application/json")
			return
		}
		next(w, r)
	}
}

func (s *Subscriber) view(src *source, w http.ResponseWriter, r *http.Request) {
	var doc bytes.Buffer
	var err error
	if !s.work(r.Context(), func() { err = writeView(&doc, src, s.options.Version) }) {
		return
	}
	if err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = doc.WriteTo(w)
}

func writeView(out *bytes.Buffer, src *source, version string) error {
	v := src.View()
	doc, err := json.Marshal(View(v, version))
	if err != nil {
		return err
	}
	if err := json.Indent(out, src.Redactor(v).JSON(doc), "", "  "); err != nil {
		return err
	}
	return out.WriteByte('\n')
}

// plan handles GET /api/plan. It asks the cluster, which may take a while.
func (s *Subscriber) plan(src *source, w http.ResponseWriter, r *http.Request) {
	if s.options.Plan == nil {
		fail(w, http.StatusConflict, "this session makes no plans")
		return
	}
	respondPlan(src, w, func(v store.View) (api.Plan, error) { return s.options.Plan(r.Context(), v) })
}

// revision handles GET /api/revision. It reads the ledger, which may take a while.
func (s *Subscriber) revision(src *source, w http.ResponseWriter, r *http.Request) {
	if s.options.Revision == nil {
		fail(w, http.StatusConflict, "this session has no cluster")
		return
	}
	number, err := strconv.Atoi(r.URL.Query().Get("number"))
	if err != nil {
		fail(w, http.StatusBadRequest, "number is the number of a revision")
		return
	}
	respondPlan(src, w, func(v store.View) (api.Plan, error) { return s.revisionOn(r, v, number) })
}

// revisionOn reads a revision in a cluster that the session works on.
func (s *Subscriber) revisionOn(r *http.Request, v store.View, number int) (api.Plan, error) {
	on := r.URL.Query().Get("cluster")
	if on != "" && !slices.Contains(state.DeclaredClusters(v), on) {
		return api.Plan{}, problem.New("the session works on no declared cluster with this context", "GET /api/view lists its clusters")
	}
	return s.options.Revision(r.Context(), v, on, number)
}

// respondPlan sends a plan, without the secrets of the session.
func respondPlan(src *source, w http.ResponseWriter, make func(store.View) (api.Plan, error)) {
	v := src.View()
	plan, err := make(v)
	if err != nil {
		failBy(w, http.StatusConflict, err)
		return
	}
	respondRedacted(src, w, plan)
}

// waits handles GET /api/waits.
func (s *Subscriber) waits(src *source, w http.ResponseWriter, r *http.Request) {
	var out api.Waits
	if s.work(r.Context(), func() { out = page.Waits(src.View()) }) {
		respond(w, out)
	}
}

// stop answers first and then ends the session.
func (s *Subscriber) stop(w http.ResponseWriter, r *http.Request) {
	var req struct{}
	if !decode(w, r, &req) {
		return
	}
	if s.options.Stop == nil {
		fail(w, http.StatusConflict, "this session cannot be stopped from outside")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	w.WriteHeader(http.StatusAccepted)
	_, _ = w.Write([]byte("{}\n"))
	_ = http.NewResponseController(w).Flush()
	s.options.Stop()
}

func fail(w http.ResponseWriter, code int, text string) { failBy(w, code, errors.New(text)) }

// failBy responds with an error, and with its mend if it is a problem.
func failBy(w http.ResponseWriter, code int, err error) {
	f := api.Failure{Error: err.Error()}
	if p, ok := problem.Of(err); ok {
		f.Mend = p.Mend
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(f)
}

// decode reads a request's body into req, or responds with the error in it.
func decode(w http.ResponseWriter, r *http.Request, req any) bool {
	body, err := access.Body(w, r, maxBody)
	if errors.Is(err, access.ErrTooLarge) {
		fail(w, http.StatusRequestEntityTooLarge, err.Error())
		return false
	}
	if err == nil {
		err = json.Unmarshal(body, req)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "read the request: "+err.Error())
		return false
	}
	return true
}

// respond sends a document.
func respond(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc)
}

// done responds to a request whose response has no content.
func done(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte("{}\n"))
}
