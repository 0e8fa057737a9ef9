package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/pkg/api"
)

// bare is an image with one static program in it: neither a shell nor tar.
var bare = `
-- Tiltfile --
docker_build('bare', '.', dockerfile='bare.Dockerfile', only=['static', 'site'], live_update=[sync('site', '/www')])
k8s_yaml('bare.yaml')
k8s_resource('bare', port_forwards='$PORT0:8080')
` + bareFiles

// bareFiles are the files of that image, and its Deployment.
var bareFiles = `-- bare.Dockerfile --
FROM scratch
COPY static /static
COPY site /www
ENTRYPOINT ["/static"]
CMD ["serve", "/www"]
-- site/index.html --
one
-- bare.yaml --
` + deployment("bare", `
terminationGracePeriodSeconds: 0
containers:
- name: bare
  image: bare
  readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
`)

// newBareProject works like newProject, and compiles the static program into the project.
func newBareProject(t *testing.T, archive string) *project {
	t.Helper()
	p := newProject(t, archive)
	c := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(p.dir, "static"), "./testdata/static")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// way waits for the synclet of a resource's only container, and returns it.
func (s *session) way(name string) api.Synclet {
	s.p.t.Helper()
	r := s.becomes(name, "with a synclet", func(r api.Resource) bool {
		return len(r.Synclets) == 1 && (r.Synclets[0].State == "ready" || r.Synclets[0].State == "failed")
	})
	return r.Synclets[0]
}

// TestBare updates containers in place whose images have no tools for that.
func TestBare(t *testing.T) {
	t.Parallel()
	p := newBareProject(t, bare)
	s := p.up()
	s.ready("bare")
	s.serves(p.ports[0], "/", "one")
	s.says("Putting the synclet into containers of bare: the image has neither sh nor tar")
	if w := s.way("bare"); w.Way != "volume" || w.Passed != "" {
		t.Errorf("synclet: %+v", w)
	}
	pod := current(t, s, "bare")
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	if b := s.builds("bare", 2); b.Mode != "synclet" || b.Error != "" || b.FellBack != "" {
		t.Errorf("build: %+v", b)
	}
	if now := current(t, s, "bare"); now.Name != pod.Name || now.Restarts != 0 {
		t.Errorf("the pod was replaced: %+v, then %+v", pod, now)
	}

	// The next session finds everything as it should be.
	p.write("site/index.html", "one\n")
	s.serves(p.ports[0], "/", "one")
	s.stop()
	s = p.up()
	s.ready("bare")
	if now := current(t, s, "bare"); now.Name != pod.Name {
		t.Error("the next session replaced the pod")
	}
	p.write("site/index.html", "three")
	s.serves(p.ports[0], "/", "three")
}

// restricted makes the namespace refuse pods with more rights than necessary.
func (p *project) restricted() {
	p.t.Helper()
	patch := `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`
	_, err := p.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).
		Patch(p.t.Context(), p.namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
}

// harden limits the container of bare to the rights that the restricted Pod Security Standard allows. It gives it a read-only file
// system, and an empty volume for its files.
func (p *project) harden() {
	p.t.Helper()
	p.replace("bare.yaml", "      containers:", `      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      volumes: [{name: www, emptyDir: {}}]
      containers:`)
	p.replace("bare.yaml", "        image: bare\n", `        image: bare
        volumeMounts: [{name: www, mountPath: /www}]
        resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {cpu: 500m, memory: 64Mi}}
        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
`)
}

func TestBareRestricted(t *testing.T) {
	t.Parallel()
	p := newBareProject(t, bare)
	p.restricted()
	p.harden()
	p.replace("bare.Dockerfile", "ENTRYPOINT", "USER 10001\nENTRYPOINT")
	s := p.up()
	s.ready("bare")
	if w := s.way("bare"); w.Way != "volume" {
		t.Errorf("synclet: %+v", w)
	}
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	if b := s.builds("bare", 2); b.Mode != "synclet" || b.Error != "" {
		t.Errorf("build: %+v", b)
	}
}

// custom deploys the same with a command of the user, so that hone cannot inject anything into the pod.
const custom = `
def bare():
    docker_build('bare', '.', dockerfile='bare.Dockerfile', only=['static', 'site'],
        live_update=[sync('site', '/www'), run(['/static', 'write', '/www/ran', 'yes'])])
    k8s_custom_deploy('bare', apply_cmd='sed "s#image: bare#image: $TILT_IMAGE_0#" bare.yaml | kubectl apply -n $NS -o yaml -f -',
        delete_cmd='kubectl delete -n $NS --ignore-not-found -f bare.yaml', deps=['bare.yaml'], image_deps=['bare'])
    k8s_resource('bare', port_forwards='$PORT0:8080')
bare()
`

// TestBareEphemeral updates a container of a pod that hone did not create, through an ephemeral container: as root, as a
// user that only the image names, and as a user that the namespace restricts.
func TestBareEphemeral(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*project){
		"root": func(*project) {},
		"user of the image": func(p *project) {
			p.replace("bare.Dockerfile", "COPY site", "COPY --chown=10001:10002 site")
			p.replace("bare.Dockerfile", "ENTRYPOINT", "USER 10001:10002\nENTRYPOINT")
		},
		"restricted": func(p *project) {
			p.restricted()
			p.harden()
			p.replace("bare.Dockerfile", "ENTRYPOINT", "USER 10001\nENTRYPOINT")
		},
		"shared processes": func(p *project) {
			p.replace("bare.yaml", "      containers:", "      shareProcessNamespace: true\n      containers:")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newBareProject(t, bare)
			p.write("Tiltfile", custom)
			prepare(p)
			s := p.up()
			s.ready("bare")
			w := s.way("bare")
			if w.Way != "ephemeral" || !strings.Contains(w.Passed, "shell:") || !strings.Contains(w.Passed, "tar:") {
				t.Fatalf("synclet: %+v", w)
			}
			for _, text := range []string{"two", "three"} {
				p.write("site/index.html", text)
				s.serves(p.ports[0], "/", text)
			}
			s.serves(p.ports[0], "/ran", "yes")
			if b := s.builds("bare", 3); b.Mode != "synclet" || b.Error != "" || b.FellBack != "" {
				t.Errorf("build: %+v", b)
			}

			// Another session uses the existing ephemeral container. The first one may have made two, if the user was not known at once.
			onlyPod := func() corev1.Pod {
				pods, err := p.pods("bare")
				if err != nil || len(pods) != 1 {
					t.Fatalf("%d pods, %v", len(pods), err)
				}
				return pods[0]
			}
			before := onlyPod()
			s.stop()
			s = p.up()
			s.ready("bare")
			if w := s.way("bare"); w.Way != "ephemeral" {
				t.Fatalf("synclet: %+v", w)
			}
			p.write("site/index.html", "four")
			s.serves(p.ports[0], "/", "four")
			after := onlyPod()
			if n, was := running(after), running(before); after.UID != before.UID || n != was || n > 2 {
				t.Errorf("%d of hone's containers run in pod %s, after %d in pod %s", n, after.Name, was, before.Name)
			}
		})
	}
}

func running(pod corev1.Pod) (n int) {
	for _, s := range pod.Status.EphemeralContainerStatuses {
		if s.State.Running != nil && strings.HasPrefix(s.Name, "hone-synclet-") {
			n++
		}
	}
	return n
}
