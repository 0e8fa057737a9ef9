package process

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object. Its processes end when its last handle is closed, also by the death of this process.
type group struct {
	job     windows.Handle
	pid     uint32
	release func()
}

// startGroup starts the command and puts it into a new job.
func startGroup(cmd *exec.Cmd, _ time.Duration, _ string) (*group, error) {
	job, err := newJob()
	if err != nil {
		return nil, fmt.Errorf("create job object: %w", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	if err := cmd.Start(); err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	g := &group{job: job, pid: uint32(cmd.Process.Pid)}
	g.release = sync.OnceFunc(func() { windows.CloseHandle(job) })
	if err := g.enter(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		g.release()
		return nil, fmt.Errorf("assign to job object: %w", err)
	}
	return g, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

func (g *group) enter() error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, g.pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(p)
	return windows.AssignProcessToJobObject(g.job, p)
}

// terminate sends Ctrl-Break, which requests console programs to end.
func (g *group) terminate() { _ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.pid) }

// kill ends every process of the job.
func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	totalUserTime, totalKernelTime, periodUserTime, periodKernelTime int64
	pageFaults, processes, active, terminated                        uint32
}

// basicAccounting is the class of information that fills accounting.
const basicAccounting = 1

// alive reports whether the job has a process.
func (g *group) alive() bool {
	var info accounting
	err := windows.QueryInformationJobObject(g.job, basicAccounting, uintptr(unsafe.Pointer(&info)),
		uint32(unsafe.Sizeof(info)), nil)
	return err != nil || info.active > 0
}

// signalOf returns zero: there are no signals.
func signalOf(*os.ProcessState) (int, string) { return 0, "" }
