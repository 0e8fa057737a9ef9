package e2e

import (
	"strings"
	"testing"
)

// asItIs deploys an image that hone does not build, and updates it in place.
var asItIs = `
-- Tiltfile --
custom_build('busybox', ':', deps=['site'], live_update=[sync('site', '/www')])
k8s_yaml('web.yaml')
k8s_resource('web', port_forwards='$PORT0:80')
-- site/index.html --
one
-- web.yaml --
` + deployment("web", `
terminationGracePeriodSeconds: 0
containers:
- {name: web, image: busybox, command: [sh, -c, 'mkdir /www; exec httpd -f -h /www'], imagePullPolicy: IfNotPresent}
`)

// TestImageAsItIs deploys an image that hone does not build, with the tag in the objects, by custom_build and by the
// extension, logs that, and updates it in place.
func TestImageAsItIs(t *testing.T) {
	t.Parallel()
	for name, tiltfile := range map[string]string{
		"custom_build": "",
		"extension": `
load('ext://file_sync_only', 'file_sync_only')
file_sync_only('busybox', 'web.yaml', ['site'], [sync('site', '/www')])
k8s_resource('web', port_forwards='$PORT0:80')
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, asItIs)
			if tiltfile != "" {
				p.env = append(p.env, "XDG_DATA_HOME="+t.TempDir())
				p.write("Tiltfile", tiltfile)
			}
			s := p.up()
			s.ready("web")
			s.says(`Nothing to build: busybox:latest is deployed as it is, and updated in place`)
			p.write("site/index.html", "two")
			s.serves(p.ports[0], "/", "two")
			if b := s.builds("web", 2); b.Mode != "synclet" || b.Error != "" {
				t.Errorf("the update: %+v", b)
			}
			for _, text := range []string{"Running cmd: :", "EXPECTED_REF"} {
				if strings.Contains(s.out.String(), text) {
					t.Errorf("it says %q", text)
				}
			}
		})
	}
}
