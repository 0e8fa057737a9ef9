package e2e

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/web/docs"
)

// core are the tests that run with -short, as make test runs them, a pattern for each in the syntax of -run: the tests that cover
// the most of the binary in the least time, at least one for each promise. Some make fewer rounds then.
var core = []string{
	"TestCore",
	// The loop: files, the Tiltfile, local resources and their servers.
	"TestCrashedSubscriberIsRestarted", "TestTiltfileIsReevaluated", "TestPortOnlyChangeDeploysNothing", "TestResourceDependencies",
	"TestKilledHoneLeavesNoProcess", "TestLocalCommands", "TestLocalFailure", "TestServerRestarts", "TestStopEndsServers", "TestProbes",
	"TestSaveDuringTheFirstEvaluation", "TestBadInput", "TestHostileTextOfPrograms", "TestWatchLimit",
	// Images and live updates, in each mode.
	"TestLiveUpdate", "TestFallBack", "TestFailingRunStep", "TestRestartedContainerIsHealed", "TestIgnores", "TestManualResource",
	"TestRestartProcess", "TestContainerMode", "TestContainerModeHealsReplacedPod", "TestImageFeatures", "TestUnchanged",
	"TestBuilderElsewhere", "TestBuilderInCluster", "TestBuilderInOtherCluster", "TestBuilderProjects", "TestBuilderPodGoes", "TestBuilderReplicas", "TestNoEngine", "TestNoEngineCustomDeploy", "TestCustomDeploy", "TestSidecar", "TestFilesComeBack", "TestFallBackToTheSameImage",
	// Deploys: the objects that are touched, that stay, and that are left over.
	"TestLabelsTieObjectsToTheResource", "TestDriftIsRestored", "TestDriftIsNoticed", "TestLostLabelComesBack", "TestDeletedObjects", "TestImmutableField", "TestForeignContextIsRefused",
	"TestNamespaceAndCRD", "TestObjectLeaves", "TestEverythingLeaves", "TestAdmissionRejects", "TestForeignObject", "TestObjectOfAnotherProject",
	"TestSharedObject", "TestReplacementIsReadyFirst", "TestKilledHandOver", "TestKilledDeploys", "TestPreview", "TestPlanOfNames", "TestPlanOfImages", "TestPlanOfCommands", "TestPlanEqualsDeploy", "TestConfirm", "TestDown",
	"TestDownSaysWhatItWaitsFor", "TestHelmRemote", "TestRollback", "TestSharedLedger", "TestTwoDeploysAtOnce", "TestSeveralClusters", "TestSeveralClustersVerbs", "TestColdStartUnderFaults", "TestSharedImages",
	// The runtime: pods, logs, forwards, the connection to the cluster.
	"TestLogsAreComplete", "TestCrashLoop", "TestImagePullError", "TestPortForwardOutlivesPods", "TestLostConnections", "TestEditsDuringOutage",
	"TestCutInFrame", "TestCutInStep", "TestSavesTravelBehindEachOther", "TestSettle", "TestSettleTellsBrokenFromMended",
	// Commands, sessions, terminals.
	"TestCIWell", "TestCIFails", "TestCIJobFails", "TestCISecrets", "TestCIInterrupted", "TestHUD", "TestHUDShowsFailures", "TestHUDActs",
	"TestHUDLog", "TestSessions", "TestKilledSession", "TestSuspend", "TestFar", "TestFarPorts", "TestButton", "TestReadOnlyKubeconfig", "TestPrintedSecretsAreHidden", "TestSecretsShowNowhere", "TestCrashesInTheBackground", "TestVersionAndDoctor",
	"TestVerbs/^(apply|get|logs|token|wait)$", "TestSeededFaults", "TestToolsConfirm",
	// Other projects, and the documentation.
	"TestCompose", "TestComposeMendAfterCrash", "TestInit/^(python_with_requirements_and_overlays|compose_as_kubernetes)$", "TestDocs/^(first-project|buttons)$", "TestDocsTellWhy", "TestDocuments",
}

// chooseCore chooses the core with -short, if -run does not choose tests. It is called after flag.Parse and before m.Run.
func chooseCore() {
	if !testing.Short() || flag.Lookup("test.run").Value.String() != "" {
		return
	}
	patterns := make([]string, len(core))
	for i, p := range core {
		name, sub, _ := strings.Cut(p, "/")
		patterns[i] = strings.TrimSuffix("^"+name+"$/"+sub, "/")
	}
	if err := flag.Set("test.run", strings.Join(patterns, "|")); err != nil {
		panic(err)
	}
}

// TestCore checks that each test of the core exists, and each part of one that is named.
func TestCore(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests []string
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				tests = append(tests, fn.Name.Name)
			}
		}
	}
	parts := map[string][]string{}
	for _, tc := range initialized {
		parts["TestInit"] = append(parts["TestInit"], strings.ReplaceAll(tc.name, " ", "_"))
	}
	for _, p := range docs.Pages() {
		parts["TestDocs"] = append(parts["TestDocs"], strings.ReplaceAll(p.Topic, "/", "-"))
	}
	scripts, err := filepath.Glob("testdata/verbs/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		parts["TestVerbs"] = append(parts["TestVerbs"], strings.TrimSuffix(filepath.Base(s), ".txtar"))
	}
	for _, p := range core {
		name, sub, some := strings.Cut(p, "/")
		if !slices.Contains(tests, name) {
			t.Errorf("there is no %s", name)
		}
		for part := range strings.SplitSeq(strings.Trim(sub, "^()$"), "|") {
			if some && !slices.Contains(parts[name], part) {
				t.Errorf("there is no %s/%s", name, part)
			}
		}
	}
}
