package imagebuild

import (
	"testing"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// TestSupervisedDockerfile checks that the synclet runs the command of an image's containers: that in the Tiltfile,
// otherwise the image's.
func TestSupervisedDockerfile(t *testing.T) {
	none := []string{}
	live := model.LiveUpdate{RestartProcess: &model.RestartProcess{File: "/tmp/.restart"}}
	for _, tt := range []struct {
		name   string
		target model.ImageTarget
		im     docker.Image
		want   string // without the lines that are always the same; empty for an error
	}{
		{"entrypoint and command of the image", model.ImageTarget{}, docker.Image{Entrypoint: []string{"/app", `a "b"`}, Cmd: []string{"serve"}},
			`["/.hone/synclet","run","--","/app","a \"b\""]` + "\nCMD [\"serve\"]\n"},
		{"command alone", model.ImageTarget{LiveUpdate: live}, docker.Image{Cmd: []string{"sh", "-c", "x $HOME"}},
			`["/.hone/synclet","run","--watch","/tmp/.restart","--"]` + "\nCMD [\"sh\",\"-c\",\"x $HOME\"]\n"},
		{"entrypoint of the Tiltfile", model.ImageTarget{Entrypoint: []string{"/own"}}, docker.Image{Entrypoint: []string{"/app"}, Cmd: []string{"serve"}},
			`["/.hone/synclet","run","--","/own"]` + "\n"},
		{"arguments of the Tiltfile", model.ImageTarget{ContainerArgs: &[]string{"x"}}, docker.Image{Entrypoint: []string{"/app"}, Cmd: []string{"serve"}},
			`["/.hone/synclet","run","--","/app"]` + "\nCMD [\"x\"]\n"},
		{"no arguments", model.ImageTarget{ContainerArgs: &none}, docker.Image{Entrypoint: []string{"/app"}, Cmd: []string{"serve"}},
			`["/.hone/synclet","run","--","/app"]` + "\n"},
		{"nothing", model.ImageTarget{}, docker.Image{}, ""},
	} {
		got, err := supervisedDockerfile(tt.target, tt.im, "api:hone-1")
		want := tt.want
		if want != "" {
			want = "FROM api:hone-1\nCOPY synclet /.hone/synclet\nENTRYPOINT " + want
		}
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s:\n%s%v\nwant\n%s", tt.name, got, err, want)
		}
	}
}
