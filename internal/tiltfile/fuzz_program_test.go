package tiltfile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/kubecontext"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/pkg/model"
)

var syntaxSeeds = []string{
	"if x\n  y()\n", "else:\n", "x = f'a'\n", "import os\n", "f(a\n", "x = [1,\ny = 2\n", "x = '''a\n", "if True:\n\ta\n  b\n", "x = “a”\n", "é = (ü ö)\n",
	"services:\n  web:\n", "f(\n a,\n b=1\n c=2)\n", "x = 'a\\q'\n", "print 'é' 'x'\n", "{1, 2}\n", "x++\n", "<<<<<<< A\n", "", "\n", "\x00", "x = (", "#", "'",
}

// FuzzSyntaxError explains errors of the parser: the place must be in the text, and the message must not be empty.
func FuzzSyntaxError(f *testing.F) {
	for _, s := range syntaxSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		_, err := dialect.Options.Parse("Tiltfile", src, 0)
		var e syntax.Error
		if !errors.As(err, &e) {
			return
		}
		x := hint.Syntax(src, e)
		if lines := strings.Split(fault.UnixLines(src), "\n"); x.Line < 1 || x.Line > len(lines)+1 || x.Col < 1 || x.Msg == "" {
			t.Fatalf("%q: %+v", src, x)
		}
		s := newState(context.Background(), "Tiltfile", Options{Logger: logstore.Discard})
		s.Texts["Tiltfile"] = src
		if text := problem.Text(s.interp.Locate(err)); !strings.HasPrefix(text, "Tiltfile:") {
			t.Fatalf("%q: %s", src, text)
		}
	})
}

// inert are builtins that neither run commands, nor read files, nor change anything outside of the evaluation.
var inert = []string{
	"docker_build", "custom_build", "default_registry", "image_cache", "builder", "sync", "run", "fall_back_on", "restart_container", "initial_sync",
	"k8s_yaml", "filter_yaml", "ref", "workload_to_resource_function", "k8s_resource", "port_forward", "link", "trigger_mode",
	"local_resource", "test", "probe", "exec_action", "http_get_action", "tcp_socket_action", "blob", "decode_json",
	"decode_yaml", "decode_yaml_stream", "encode_json", "encode_yaml", "encode_yaml_stream", "fail", "warn", "exit",
	"update_settings", "ci_settings", "version_settings", "cluster", "k8s_context", "k8s_namespace", "k8s_custom_deploy", "config.define_string", "config.define_bool",
}

// FuzzProgram runs programs with inert builtins. Every error must have a place, and none may panic.
func FuzzProgram(f *testing.F) {
	for _, s := range syntaxSeeds {
		f.Add(s)
	}
	f.Add("k8s_yaml(blob('apiVersion: v1\\nkind: Pod\\nmetadata: {name: a}\\nspec: {containers: [{image: b}]}'))\nk8s_resource('a', port_forwards=['80:90'], links=[link('x', 'y')])\n")
	f.Add("local_resource('a', cmd=['x', 1], deps={}, zzz=1, readiness_probe=probe(exec=exec_action(['true'])))\n")
	f.Add("docker_build('a', '/nowhere', dockerfile_contents='FROM b', live_update=[sync('x', '/y'), run('z', trigger='q')])\n")
	f.Add("def f(o):\n  return o.name\nworkload_to_resource_function(f)\nk8s_yaml(encode_yaml({'kind': 'Job', 'apiVersion': 'batch/v1', 'metadata': {'name': 'x'}}))\n")
	f.Add("a, b = filter_yaml(blob('x'), name='(')\nf(*a, **b)\nconfig.define_string('x')\n")
	pod := "k8s_yaml(blob('apiVersion: v1\\nkind: Pod\\nmetadata: {name: a}\\nspec: {containers: [{image: b}]}')"
	f.Add("cluster('eu', 'x')\n" + pod + ", cluster='eu')\n" + pod + ")\nk8s_resource('a', cluster='eu', new_name='b')\nk8s_custom_deploy('c', 'x', 'y', [], cluster='us')\n")
	f.Add(pod + ")\nk8s_resource('a', cluster='eu', objects=['a'])\nlocal_resource('l', 'x', cluster='us')\ncluster('eu')\ncluster('us', 'eu', 'n')\n")
	f.Fuzz(func(t *testing.T, src string) {
		if strings.ContainsAny(src, "*%") || strings.Contains(src, "<<") {
			return // these make values of any size
		}
		s := newState(t.Context(), "/nowhere/Tiltfile", Options{Logger: logstore.Discard, Memo: memo.New(), Clusters: anyContext})
		s.Texts[s.Main] = src
		all, some := s.builtins(), map[string]eval.Function{}
		for _, name := range inert {
			some[name] = all[name]
		}
		s.interp.Predeclare(some, nil)
		s.Thread.OnMaxSteps = nil
		s.Thread.SetMaxExecutionSteps(20_000)
		_, err := s.interp.Execute(s.Main, src, s.interp.Predeclared)
		if err == nil {
			_, err = s.finish()
		}
		checkPlaced(t, src, s.interp.Locate(err))
	})
}

// anyContext finds a cluster for development behind every context.
func anyContext(context, namespace string) (kubecontext.Way, error) {
	return kubecontext.Way{Cluster: model.Cluster{Context: context, Namespace: namespace, Product: model.ProductKIND}, Kubeconfig: "/overlay/" + context}, nil
}

func checkPlaced(t *testing.T, src string, err error) {
	t.Helper()
	var list fault.Errors
	var one *fault.Error
	switch {
	case err == nil:
		return
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = fault.Errors{one}
	default:
		t.Fatalf("%q: %T %v has no place", src, err, err)
	}
	for _, e := range list {
		if e.File != "/nowhere/Tiltfile" || e.Msg == "" || slices.ContainsFunc(e.Marks, func(m fault.Mark) bool { return m.Line < 1 }) {
			t.Fatalf("%q: %+v", src, e)
		}
	}
	if problem.Text(err) == "" {
		t.Fatalf("%q: nothing to show for %v", src, err)
	}
}
