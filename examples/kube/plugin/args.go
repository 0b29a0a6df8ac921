package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gangkit/gangkit/admission"
	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kube/policy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ErrArgs is returned for arguments that make no sense, wrapped with the value.
var ErrArgs = errors.New("plugin: invalid arguments")

// Args is the configuration of the plugin, the args of its pluginConfig in a
// KubeSchedulerConfiguration. What is left out has the value said here.
type Args struct {
	// Factor is C of Eq. (1), by which a node's allocatable memory is multiplied; 1.
	Factor float64 `json:"factor,omitempty"`

	// MaxSkips is K, how often a job may be passed over; 0 means 15. With −1 nobody
	// ever is.
	MaxSkips int `json:"maxSkips,omitempty"`

	// PermitTimeout is how long the pods of a gang that have a node wait for those
	// that have none, at most [MaxPermitTimeout]; 1 minute. It matters only if one of
	// those never is tried.
	PermitTimeout metav1.Duration `json:"permitTimeout,omitzero"`

	// Bound makes an estimate of past runs, by its name in package estimate; "paper".
	Bound string `json:"bound,omitempty"`

	// Period is how long it takes until runs begin to be forgotten; 720h.
	Period metav1.Duration `json:"period,omitzero"`

	// Paths and Records limit how many programs, and how many (program, size, user)
	// are known; 2048 and 4096. A ConfigMap has room for some ten thousand.
	Paths   int `json:"paths,omitempty"`
	Records int `json:"records,omitempty"`

	// ConfigMap, a namespace and a name with a slash between them, or File, a path,
	// is where the history is kept; by default nowhere.
	ConfigMap string `json:"configMap,omitempty"`
	File      string `json:"file,omitempty"`

	// SaveInterval is how often the history is saved if it changed; 30s. So old is also
	// a pod of which the event GangIncomplete tells.
	SaveInterval metav1.Duration `json:"saveInterval,omitzero"`

	// MeasureInterval is how often the metrics API is asked, if the cluster has it, at
	// least [MinMeasureInterval]; 15s. Negative: never.
	MeasureInterval metav1.Duration `json:"measureInterval,omitzero"`
}

// MaxPermitTimeout is the longest that kube-scheduler lets a pod wait for others.
const MaxPermitTimeout = 15 * time.Minute

// MinMeasureInterval is the shortest time between two questions to the metrics API,
// which measures some times a minute.
const MinMeasureInterval = 100 * time.Millisecond

// parse reads the arguments that kube-scheduler hands over, and checks them.
func parse(object runtime.Object) (Args, error) {
	var a Args
	switch o := object.(type) {
	case nil:
	case *runtime.Unknown:
		if len(o.Raw) > 0 {
			d := json.NewDecoder(bytes.NewReader(o.Raw))
			d.DisallowUnknownFields()
			if err := d.Decode(&a); err != nil {
				return a, fmt.Errorf("%w: %w", ErrArgs, err)
			}
		}
	default:
		return a, fmt.Errorf("%w: of type %T", ErrArgs, object)
	}
	for _, d := range []struct {
		value   *metav1.Duration
		name    string
		initial time.Duration
	}{
		{&a.PermitTimeout, "permitTimeout", time.Minute},
		{&a.Period, "period", 30 * 24 * time.Hour},
		{&a.SaveInterval, "saveInterval", 30 * time.Second},
	} {
		if d.value.Duration < 0 {
			return a, fmt.Errorf("%w: %s: %v, want it positive", ErrArgs, d.name, d.value.Duration)
		}
		if d.value.Duration == 0 {
			d.value.Duration = d.initial
		}
	}
	if d := a.PermitTimeout.Duration; d > MaxPermitTimeout {
		return a, fmt.Errorf("%w: permitTimeout: %v, want at most %v, at which kube-scheduler ends it", ErrArgs, d, MaxPermitTimeout)
	}
	if d := a.MeasureInterval.Duration; d > 0 && d < MinMeasureInterval {
		return a, fmt.Errorf("%w: measureInterval: %v, want at least %v, or less than 0 for never", ErrArgs, d, MinMeasureInterval)
	}
	if a.MeasureInterval.Duration == 0 {
		a.MeasureInterval.Duration = 15 * time.Second
	}
	if a.Bound == "" {
		a.Bound = "paper"
	}
	if a.ConfigMap != "" && a.File != "" {
		return a, fmt.Errorf("%w: configMap %q and file %q, want one of them", ErrArgs, a.ConfigMap, a.File)
	}
	if namespace, name, ok := strings.Cut(a.ConfigMap, "/"); a.ConfigMap != "" && (!ok || namespace == "" || name == "" || strings.Contains(name, "/")) {
		return a, fmt.Errorf("%w: configMap: %q, want namespace/name", ErrArgs, a.ConfigMap)
	}
	return a, nil
}

// build makes what the arguments describe.
func (a Args) build() (*policy.Jobs, *policy.History, *memory, error) {
	bound, err := estimate.ParseBound(a.Bound)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: bound: %w", ErrArgs, err)
	}
	history, err := policy.NewHistory(estimate.Config{Bound: bound, Paths: a.Paths, Records: a.Records}, a.Period.Duration)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w", ErrArgs, err)
	}
	jobs, err := policy.NewJobs(a.MaxSkips)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: maxSkips: %w", ErrArgs, err)
	}
	limit, err := admission.NewNodes(admission.NodesConfig{Memory: []int64{0}, Factor: a.Factor})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: factor: %w", ErrArgs, err)
	}
	return jobs, history, newMemory(limit), nil
}
