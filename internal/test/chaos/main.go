//go:build linux

// Command chaos injects faults into hone, and checks after each fault that no data is lost and no leftovers remain: it drives the
// binary on a real engine and a real cluster, kills it, disturbs its connections to the API server, fills its disk, takes its
// ports, and moves objects between resources.
//
// "make chaos" builds hone and runs all scenarios; "scripts/chaos NAME…" runs the named ones, and "scripts/chaos -list"
// lists them. The actions are random and follow from a seed, which is printed first and in every failure. "chaos soak",
// which "make soak" runs, keeps one session under faults for an hour.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

// seedVariable names the variable with the seed of a run to repeat.
const seedVariable = "HONE_CHAOS_SEED"

// scenario is a kind of fault.
type scenario struct {
	name, does string
	// limit bounds its duration.
	limit time.Duration
	run   func(ctx context.Context, w *world) error
}

// scenarios are all scenarios, in the order in which they are run.
var scenarios = slices.Concat(killings, outages, handOvers, shortages, floods)

// errSkipped means that a scenario cannot be run on this machine.
var errSkipped = errors.New("skipped")

// options are the options of every command.
type options struct {
	hone, containerd string
	seed             uint64
	// budget is the time after which a run begins no further scenario.
	budget time.Duration
	out    io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	o := options{out: os.Stdout}
	flags := flag.NewFlagSet("chaos", flag.ExitOnError)
	flags.StringVar(&o.hone, "hone", ".bin/hone", "the hone to drive")
	flags.StringVar(&o.containerd, "containerd", "/run/containerd/containerd.sock", "the socket of the containerd that runs the cluster's pods")
	list := flags.Bool("list", false, "name the scenarios and end")
	soak := len(args) > 0 && args[0] == "soak"
	if soak {
		args = args[1:]
		flags.DurationVar(&o.budget, "for", time.Hour, "how long")
	} else {
		flags.DurationVar(&o.budget, "for", 15*time.Minute, "begin no scenario after this time")
	}
	_ = flags.Parse(args)
	if *list {
		for _, s := range scenarios {
			fmt.Fprintf(o.out, "%-18s %s\n", s.name, s.does)
		}
		return nil
	}
	var err error
	if o.seed, err = seed(os.Getenv(seedVariable)); err != nil {
		return err
	}
	chosen, err := choose(flags.Args())
	if err != nil {
		return err
	}
	fmt.Fprintf(o.out, "seed %d\n", o.seed)
	cluster, err := harness.Connect("")
	if err != nil {
		return err
	}
	defer cluster.Close()
	if soak {
		return o.soak(ctx, cluster, chosen)
	}
	return o.run(ctx, cluster, chosen)
}

// seed parses the seed, or picks a random one if text is empty.
func seed(text string) (uint64, error) {
	if text == "" {
		return uint64(rand.Uint32()), nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%s is not a number", seedVariable, text)
	}
	return n, nil
}

// choose returns the scenarios with the given names, in their order, or all if there are no names. A name selects all
// scenarios that begin with it.
func choose(names []string) ([]scenario, error) {
	if len(names) == 0 {
		return scenarios, nil
	}
	var out []scenario
	for _, name := range names {
		before := len(out)
		for _, s := range scenarios {
			if strings.HasPrefix(s.name, name) {
				out = append(out, s)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("unknown scenario %q; -list lists them", name)
		}
	}
	return out, nil
}

// randomFor returns the random numbers of a scenario, which do not depend on earlier scenarios.
func randomFor(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = io.WriteString(h, name)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// failure is a failed scenario, with the command to reproduce it.
type failure struct {
	seed uint64
	name string
	err  error
}

// Error names the seed first.
func (f failure) Error() string {
	return fmt.Sprintf("seed %d: %s: %v\nagain: %s=%d scripts/chaos %s", f.seed, f.name, f.err, seedVariable, f.seed, f.name)
}

// Unwrap returns the cause.
func (f failure) Unwrap() error { return f.err }

// run runs scenarios one after the other, continues after a failure, and returns all failures.
func (o options) run(ctx context.Context, cluster *harness.Cluster, chosen []scenario) error {
	began := time.Now()
	var errs []error
	var passed, skipped int
	for _, s := range chosen {
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		if time.Since(began) > o.budget {
			fmt.Fprintf(o.out, "LEFT OUT %-18s there is no time left\n", s.name)
			skipped++
			continue
		}
		switch err := o.play(ctx, cluster, s, randomFor(o.seed, s.name)); {
		case errors.Is(err, errSkipped):
			skipped++
		case err != nil:
			errs = append(errs, err)
		default:
			passed++
		}
	}
	fmt.Fprintf(o.out, "\nseed %d: %d passed, %d failed, %d left out in %s\n", o.seed, passed, len(errs), skipped, time.Since(began).Round(time.Second))
	return errors.Join(errs...)
}

// play runs one scenario in a world of its own.
func (o options) play(ctx context.Context, cluster *harness.Cluster, s scenario, random *rand.Rand) (err error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	began := time.Now()
	w, err := newWorld(ctx, o, cluster, random)
	if err == nil {
		err = s.run(ctx, w)
		if end := w.end(context.WithoutCancel(ctx)); err == nil {
			err = end
		}
	}
	took := time.Since(began).Round(100 * time.Millisecond)
	switch {
	case errors.Is(err, errSkipped):
		fmt.Fprintf(o.out, "SKIPPED  %-18s %v\n", s.name, err)
		return err
	case err != nil:
		err = failure{o.seed, s.name, w.explain(err)}
		fmt.Fprintf(o.out, "FAILED   %-18s %s\n%v\n", s.name, took, err)
		return err
	}
	fmt.Fprintf(o.out, "ok       %-18s %s, %s\n", s.name, took, strings.Join(w.did, ", "))
	return nil
}
