package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestDeletedFolderIsVolume deletes a local folder whose counterpart in the container is a volume: the synced files are
// removed, other files stay, in each update mode.
func TestDeletedFolderIsVolume(t *testing.T) {
	t.Parallel()
	for mode, docker := range map[string]bool{"synclet": false, "exec": false, "container": true} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			begin := newProject
			if docker {
				begin = newDockerProject
			}
			p := begin(t, web)
			if docker {
				p.env = append(p.env, "XDG_DATA_HOME="+t.TempDir())
			}
			p.replace("web.yaml", "      containers:\n", `      volumes: [{name: data, emptyDir: {}}]
      initContainers:
      - {name: fill, image: busybox, imagePullPolicy: IfNotPresent, command: [sh, -c, 'mkdir /data/sub; echo precious | tee /data/precious >/data/sub/precious'], volumeMounts: [{name: data, mountPath: /data}]}
      containers:
`)
			p.replace("web.yaml", "        image: web\n", "        image: web\n        volumeMounts: [{name: data, mountPath: /www/data}]\n")
			p.write("site/data/sub/ours", "one")
			s := p.up("--update-mode", mode)
			s.ready("web")
			p.write("site/data/sub/ours", "two")
			p.write("site/data/ours", "two")
			s.serves(p.ports[0], "/data/sub/ours", "two")
			s.serves(p.ports[0], "/data/ours", "two")
			if err := os.RemoveAll(filepath.Join(p.dir, "site/data")); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"/data/sub/ours", "/data/ours"} {
				s.await(file+" to be gone", func() error {
					if got, err := fetch(p.ports[0], file); err == nil {
						return fmt.Errorf("still there: %q", got)
					}
					return nil
				})
			}
			s.serves(p.ports[0], "/data/precious", "precious")
			s.serves(p.ports[0], "/data/sub/precious", "precious")
			p.write("site/data/ours", "three") // and updates continue
			s.serves(p.ports[0], "/data/ours", "three")
			r, err := s.resource("web")
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range r.BuildHistory[:len(r.BuildHistory)-1] {
				if !b.Cancelled && (b.Mode != mode || b.Error != "") { // the second save may overtake the first
					t.Errorf("build %d: %+v", b.Serial, b)
				}
			}
		})
	}
}
