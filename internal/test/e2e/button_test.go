package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

// buttons is a project with only buttons, commands and the objects that they refer to.
const buttons = `
-- Tiltfile --
local_resource('shop', 'true')

def cmd_button(name, resource, script, inputs=[]):
    v1alpha1.ui_button(name=name, text=name, inputs=inputs,
        location=v1alpha1.ui_component_location(component_id=resource, component_type='Resource'))
    v1alpha1.cmd(name='button:' + name, args=['sh', '-c', script], start_on=v1alpha1.start_on_spec(ui_buttons=[name]))

cmd_button('greet', 'shop', 'echo "greets <$NAME> <$DRY_RUN> <$SIZE> <$TOKEN> port=$TILT_PORT"', inputs=[
    v1alpha1.ui_input_spec(name='NAME', text=v1alpha1.ui_text_input_spec(default_value='nobody')),
    v1alpha1.ui_input_spec(name='DRY_RUN', bool=v1alpha1.ui_bool_input_spec(true_string='--dry-run', false_string='')),
    v1alpha1.ui_input_spec(name='SIZE', choice=v1alpha1.ui_choice_input_spec(['small', 'large'])),
    v1alpha1.ui_input_spec(name='TOKEN', hidden=v1alpha1.ui_hidden_input_spec('t0')),
])
v1alpha1.ui_button('nav', text='Nav', location={'component_type': 'global', 'component_id': 'nav'})
v1alpha1.cmd('button:nav', args=['sh', '-c', 'echo nav was clicked; exit 7'], start_on={'ui_buttons': ['nav']})

v1alpha1.config_map('switch', data={'isDisabled': 'false'})
v1alpha1.file_watch('conf', watched_paths=['conf'])
v1alpha1.cmd('server', args=['sh', '-c', 'echo serving $(cat conf/port); exec sleep 100000'], annotations={'tilt.dev/resource': 'shop'},
    restart_on={'file_watches': ['conf']}, disable_source={'config_map': {'name': 'switch', 'key': 'isDisabled'}})
-- conf/port --
one
`

// click clicks a button through the API, and returns the answer.
func (s *session) click(button string, inputs map[string]any) (code int, answer string) {
	s.p.t.Helper()
	return s.posts("/api/click", api.ClickRequest{Button: button, Inputs: inputs})
}

// posts sends a request to the API, and returns the answer.
func (s *session) posts(path string, request any) (code int, answer string) {
	s.p.t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		s.p.t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://localhost:%d%s", s.port, path), bytes.NewReader(body))
	if err != nil {
		s.p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.token())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.p.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.p.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// commandIs waits until a declared command fulfils a condition.
func (s *session) commandIs(name, what string, is func(api.Command) bool) api.Command {
	s.p.t.Helper()
	var found api.Command
	s.await(name+" to be "+what, func() error {
		v, err := s.view()
		if err != nil {
			return err
		}
		for _, c := range v.Commands {
			if found = c; c.Name == name && is(c) {
				return nil
			}
		}
		return fmt.Errorf("commands are %+v", v.Commands)
	})
	return found
}

// TestButton clicks buttons through the API: the output of their commands, with the inputs, is in the log.
func TestButton(t *testing.T) {
	t.Parallel()
	s := newProject(t, buttons).up()
	s.says(`shop │ serving one`)
	v, err := s.view()
	if err != nil || len(v.Buttons) != 2 || v.Buttons[0].Name != "greet" || len(v.Buttons[0].Inputs) != 4 || v.Buttons[0].Clicks != 0 {
		t.Fatalf("%+v, %v", v.Buttons, err)
	}
	if strings.Contains(s.out.String(), "greets") {
		t.Error("a command ran without a click")
	}
	if code, answer := s.click("greet", nil); code != 200 {
		t.Errorf("%d %s", code, answer)
	}
	s.says(fmt.Sprintf(`shop │ greets <nobody> <> <small> <t0> port=%d$`, s.port))
	s.click("greet", map[string]any{"NAME": "you & $HOME", "DRY_RUN": true, "SIZE": "large"})
	s.says(`shop │ greets <you & \$HOME> <--dry-run> <large> <t0>`)
	s.commandIs("button:greet", "through", func(c api.Command) bool { return c.Runs == 2 && c.State == "succeeded" })
	if code, answer := s.click("greet", map[string]any{"SIZE": "medium"}); code != 400 || !strings.Contains(answer, "small, large") {
		t.Errorf("%d %s", code, answer)
	}
	s.click("nav", nil)
	s.says(`^nav was clicked`) // the Tiltfile's own log has no name before it
	s.commandIs("button:nav", "failed", func(c api.Command) bool { return c.State == "failed" && c.ExitCode == 7 })
}

// TestDeclaredServer restarts a declared command on a change of its files, switches it off and on, and removes it from
// the Tiltfile: no process is ever left behind.
func TestDeclaredServer(t *testing.T) {
	t.Parallel()
	p := newProject(t, buttons)
	s := p.up()
	running := func(c api.Command) bool { return c.State == "running" && c.PID != 0 }
	s.says(`shop │ serving one`)
	first := s.commandIs("server", "running", running)
	p.write("conf/port", "two\n")
	s.says(`shop │ serving two`)
	p.replace("Tiltfile", "'isDisabled': 'false'", "'isDisabled': 'true'")
	s.commandIs("server", "off", func(c api.Command) bool { return c.Disabled && c.State == "stopped" })
	p.replace("Tiltfile", "'isDisabled': 'true'", "'isDisabled': 'false'")
	last := s.commandIs("server", "on", func(c api.Command) bool { return !c.Disabled && running(c) })
	text, err := os.ReadFile(filepath.Join(p.dir, "Tiltfile"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "v1alpha1.cmd('server'")
	p.write("Tiltfile", before)
	s.await("the command to go", func() error {
		v, err := s.view()
		if err == nil && len(v.Commands) != 2 {
			err = fmt.Errorf("commands are %+v", v.Commands)
		}
		return err
	})
	for _, pid := range []int{first.PID, last.PID} {
		s.await(fmt.Sprintf("process %d to end", pid), func() error {
			if syscall.Kill(pid, 0) == nil {
				return errors.New("it is still there")
			}
			return nil
		})
	}
}
