//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/hone-dev/hone/internal/test/attackers"
)

const (
	// attackCommand is the first argument of the process that attacks.
	attackCommand = "attack"
	// attackReady is the line that it prints as soon as it attacks.
	attackReady = "ready"
	// together is the number of clients that attack at a time, where the attack itself does not determine it.
	together = 4
)

// attacker is a process that attacks a session: its clients share only the machine with the measuring process.
type attacker struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// attack starts a process that runs the named attacks on a session at once, and waits until it has begun. The caller
// ends it.
func attack(ctx context.Context, s attackers.Target, names ...string) (*attacker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &attacker{cmd: exec.CommandContext(ctx, self, append([]string{attackCommand}, names...)...)}
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	a.cmd.Stderr = &a.stderr
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.stdout = bufio.NewReader(stdout)
	if err := a.cmd.Start(); err != nil {
		return nil, err
	}
	// The token goes where no other process can read it.
	if err = json.NewEncoder(a.stdin).Encode(s); err == nil {
		_, err = a.stdout.ReadString('\n')
	}
	if err != nil {
		_, ended := a.end()
		return nil, errors.Join(err, ended)
	}
	return a, nil
}

// end ends the attack. It returns the number of rounds, and the session's errors.
func (a *attacker) end() (rounds string, err error) {
	_ = a.stdin.Close()
	said, _ := io.ReadAll(a.stdout)
	if err := a.cmd.Wait(); err != nil {
		return "", fmt.Errorf("attack: %w\n%s", err, &a.stderr)
	}
	return strings.TrimSpace(string(said)), nil
}

// runAttack is the attacking process. It runs until its input ends.
func runAttack(ctx context.Context, names []string) error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var s attackers.Target
	if err := json.Unmarshal(line, &s); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var begun []func() (int64, error)
	for _, name := range names {
		i := slices.IndexFunc(attackers.Attacks, func(a attackers.Attack) bool { return a.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no attack %q", name)
		}
		end, err := begin(ctx, attackers.Attacks[i], s)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		begun = append(begun, end)
	}
	fmt.Println(attackReady)
	_, _ = io.Copy(io.Discard, in)
	cancel()
	var errs []error
	var rounds int64
	for _, end := range begun {
		n, err := end()
		rounds += n
		errs = append(errs, err)
	}
	fmt.Println(rounds)
	return errors.Join(errs...)
}

// begin attacks until ctx ends; the returned function waits for that, and returns the number of complete rounds and the
// errors.
func begin(ctx context.Context, a attackers.Attack, s attackers.Target) (end func() (int64, error), err error) {
	if a.Hold != nil {
		release, err := a.Hold(ctx, s)
		if err != nil {
			return nil, err
		}
		return func() (int64, error) { release(); return 1, nil }, nil
	}
	var all sync.WaitGroup
	var rounds atomic.Int64
	errs := make([]error, together)
	for i := range errs {
		all.Go(func() {
			for ctx.Err() == nil && errs[i] == nil {
				if errs[i] = a.Once(ctx, s); ctx.Err() == nil {
					rounds.Add(1)
				}
			}
		})
	}
	return func() (int64, error) { all.Wait(); return rounds.Load(), errors.Join(errs...) }, nil
}
