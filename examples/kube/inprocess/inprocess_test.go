// Package inprocess runs kube-scheduler with the plugin in the process of a test,
// with all its plugins, against an API that only stores objects.
package inprocess

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	defaults "k8s.io/kubernetes/pkg/scheduler/apis/config/testing/defaults"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/gangkit/gangkit/examples/kube/plugin"
	"github.com/gangkit/gangkit/examples/kube/scenario"
)

// with is the name of the profile that has the plugin.
const with = "gangkit"

// newAPI returns a fake API, which binds pods, unless refuse says otherwise.
func newAPI(refuse func(pod string) bool) *fake.Clientset {
	c := fake.NewClientset()
	// What has the same version is the same to a scheduler.
	var version atomic.Int64
	c.PrependReactor("update", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		a.(clienttesting.UpdateAction).GetObject().(*v1.Pod).ResourceVersion = fmt.Sprint(version.Add(1))
		return false, nil, nil
	})
	c.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		o, err := c.Tracker().Get(a.GetResource(), a.GetNamespace(), a.(clienttesting.PatchAction).GetName())
		if err != nil {
			return true, nil, err
		}
		aside := clienttesting.NewObjectTracker(scheme.Scheme, scheme.Codecs.UniversalDecoder())
		if err := aside.Add(o.DeepCopyObject()); err != nil {
			return true, nil, err
		}
		if _, o, err = clienttesting.ObjectReaction(aside)(a); err != nil {
			return true, nil, err
		}
		pod := o.(*v1.Pod)
		pod.ResourceVersion = fmt.Sprint(version.Add(1))
		return true, pod, c.Tracker().Update(a.GetResource(), pod, pod.Namespace)
	})
	c.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetSubresource() != "binding" {
			return false, nil, nil
		}
		b := a.(clienttesting.CreateAction).GetObject().(*v1.Binding)
		if refuse != nil && refuse(b.Name) {
			return true, nil, apierrors.NewInternalError(fmt.Errorf("no binding of %s", b.Name))
		}
		o, err := c.Tracker().Get(v1.SchemeGroupVersion.WithResource("pods"), b.Namespace, b.Name)
		if err != nil {
			return true, nil, err
		}
		pod := o.(*v1.Pod).DeepCopy()
		pod.Spec.NodeName = b.Target.Name
		return true, b, c.Tracker().Update(v1.SchemeGroupVersion.WithResource("pods"), pod, pod.Namespace)
	})
	return c
}

// start runs a scheduler with one profile, which has the plugin, until the test or
// what it returns ends it.
func start(t testing.TB, client kubernetes.Interface, args string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	plugins := *defaults.PluginsV1
	plugins.MultiPoint.Enabled = append(append([]config.Plugin{}, plugins.MultiPoint.Enabled...), config.Plugin{Name: plugin.Name})
	plugins.QueueSort = config.PluginSet{Enabled: []config.Plugin{{Name: plugin.Name}}, Disabled: []config.Plugin{{Name: "*"}}}
	plugins.PostFilter.Enabled = []config.Plugin{{Name: plugin.Name}} // before the others
	registry := frameworkruntime.Registry{plugin.Name: plugin.New}
	informers := scheduler.NewInformerFactory(client, 0)
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	s, err := scheduler.New(ctx, client, informers, nil, profile.NewRecorderFactory(broadcaster),
		scheduler.WithFrameworkOutOfTreeRegistry(registry),
		scheduler.WithPodInitialBackoffSeconds(1), scheduler.WithPodMaxBackoffSeconds(1),
		scheduler.WithProfiles(config.KubeSchedulerProfile{
			SchedulerName: with, Plugins: &plugins,
			PluginConfig: append(append([]config.PluginConfig{}, defaults.PluginConfigsV1...),
				config.PluginConfig{Name: plugin.Name, Args: &runtime.Unknown{Raw: []byte(args)}}),
		}),
	)
	if err != nil {
		cancel()
		require.NoError(t, err)
	}
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	require.NoError(t, s.WaitForHandlersSync(ctx))
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func args() string { return fmt.Sprintf(`{"maxSkips":%d,"permitTimeout":"20s"}`, scenario.K) }

func TestScenarios(t *testing.T) {
	for _, s := range scenario.All {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			client := newAPI(nil)
			start(t, client, args())
			s.Run(t, scenario.Cluster{Client: client, Namespace: "default", Scheduler: with})
		})
	}
}

// A scheduler that finds a part of a gang bound binds the rest before all others,
// although the others wait longer.
func TestGangHalfBoundIsCompletedFirst(t *testing.T) {
	client := newAPI(nil)
	c := scenario.Cluster{Client: client, Namespace: "default", Scheduler: with}
	for i := range 2 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	c.Pod(t, "early", scenario.Limit("600Mi"))
	half := c.NewPod("g-0", scenario.Gang("g", 2), scenario.Limit("600Mi"))
	half.Spec.NodeName = "node-0"
	_, err := client.CoreV1().Pods("default").Create(context.Background(), half, metav1.CreateOptions{})
	require.NoError(t, err)
	c.Pod(t, "g-1", scenario.Gang("g", 2), scenario.Limit("600Mi"))
	start(t, client, args())
	c.AllBound(t, "g-1")
	c.Says(t, "early", "estimated memory of 600Mi exceeds what is free")
}

// A gang for which there are not enough processors is not tried again and again
// while nothing changes, and soon when something does.
func TestGangThatFindsNoNodesRests(t *testing.T) {
	var failures atomic.Int64
	client := newAPI(nil)
	client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if strings.Contains(string(a.(clienttesting.PatchAction).GetPatch()), "PodScheduled") {
			failures.Add(1)
		}
		return false, nil, nil
	})
	c := scenario.Cluster{Client: client, Namespace: "default", Scheduler: with}
	for i := range 2 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	start(t, client, args())
	c.Pod(t, "there", scenario.Processors("10"))
	c.AllBound(t, "there")
	g := c.Gang(t, "g", 2, scenario.Processors("12"))
	c.Says(t, "g-0", "")
	c.Says(t, "g-1", "")
	time.Sleep(2 * time.Second)
	require.LessOrEqual(t, failures.Load(), int64(4))
	c.Delete(t, "there")
	scenario.Within(t, 5*time.Second, "the gang bound", func() bool { return len(c.Bound(t, g...)) == 2 })
}

// A pod that lets its node go is nominated to it no more, although informers are so
// late that kube-scheduler does not know of the nomination that it should take back.
func TestNominationIsTakenBack(t *testing.T) {
	client := newAPI(nil)
	client.PrependWatchReactor("pods", func(a clienttesting.Action) (bool, watch.Interface, error) {
		w, err := client.Tracker().Watch(v1.SchemeGroupVersion.WithResource("pods"), a.GetNamespace())
		if err != nil {
			return true, nil, err
		}
		return true, watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
			time.Sleep(20 * time.Millisecond)
			return e, true
		}), nil
	})
	c := scenario.Cluster{Client: client, Namespace: "default", Scheduler: with}
	start(t, client, args())
	scenario.Processes(t, c)
}

// A gang of which some bindings fail keeps its nodes from others until it is whole.
func TestGangOfWhichBindingFails(t *testing.T) {
	refusals := 0
	client := newAPI(func(pod string) bool {
		if pod == "g-2" && refusals < 2 {
			refusals++ // the fake calls reactors one by one
			return true
		}
		return false
	})
	c := scenario.Cluster{Client: client, Namespace: "default", Scheduler: with}
	for i := range 4 {
		c.Node(t, fmt.Sprint("node-", i), "1Gi")
	}
	start(t, client, args())
	g := c.Gang(t, "g", 4, scenario.Limit("600Mi"))
	for i := range 8 {
		c.Pod(t, fmt.Sprint("other-", i), scenario.Limit("600Mi"))
	}
	c.AllBound(t, g...)
	require.Len(t, c.Settled(t), 4, "the nodes are full with it")
	require.Equal(t, 2, refusals)
}

// What one scheduler has saved, another has learnt, and what ended in between it
// learns once.
func TestHistoryOutlivesAScheduler(t *testing.T) {
	for name, where := range map[string]func(t *testing.T) string{
		"config map": func(*testing.T) string { return `"configMap":"kube-system/gangkit-history"` },
		"file":       func(t *testing.T) string { return fmt.Sprintf(`"file":%q`, filepath.Join(t.TempDir(), "history")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newAPI(nil)
			c := scenario.Cluster{Client: client, Namespace: "default", Scheduler: with}
			c.Node(t, "node", "1Gi")
			args := `{"saveInterval":"50ms",` + where(t) + `}`
			run := func(job, peak string) {
				c.Pod(t, job, scenario.Job(job), scenario.Limit("800Mi"))
				c.AllBound(t, job)
				c.Peak(t, peak, job)
				c.End(t, job)
			}
			stop := start(t, client, args)
			run("a", "100Mi")
			c.Pod(t, "still", scenario.Job("a"), scenario.Limit("800Mi"))
			c.AllBound(t, "still")
			time.Sleep(300 * time.Millisecond) // saved
			stop()
			start(t, client, args)
			c.Pod(t, "filler", scenario.Annotate(plugin.MemoryAnnotation, "800Mi"))
			c.AllBound(t, "filler")
			c.Pod(t, "a", scenario.Job("a"), scenario.Limit("800Mi"))
			c.AllBound(t, "a")
			c.Pod(t, "b", scenario.Job("b"), scenario.Limit("800Mi"))
			c.Says(t, "b", "estimated memory of 800Mi")
		})
	}
}

// A history that is damaged is begun anew in a ConfigMap; a file that cannot be read
// is an error at the start.
func TestDamagedHistory(t *testing.T) {
	client := newAPI(nil)
	_, err := client.CoreV1().ConfigMaps("kube-system").Create(context.Background(), &v1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "h"}, BinaryData: map[string][]byte{"history": []byte("rubbish")},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	c := scenario.Cluster{Client: client, Namespace: "default", Scheduler: with}
	c.Node(t, "node", "1Gi")
	start(t, client, `{"saveInterval":"50ms","configMap":"kube-system/h"}`)
	c.Pod(t, "a", scenario.Annotate(plugin.PeakAnnotation, "10Mi"))
	c.AllBound(t, "a")
	c.End(t, "a")
	scenario.Eventually(t, "the history written anew", func() bool {
		m, err := client.CoreV1().ConfigMaps("kube-system").Get(context.Background(), "h", metav1.GetOptions{})
		require.NoError(t, err)
		return string(m.BinaryData["history"]) != "rubbish"
	})

	_, err = plugin.New(context.Background(), &runtime.Unknown{Raw: []byte(`{"file":"/"}`)}, nil)
	require.Error(t, err)
}

func TestBadArguments(t *testing.T) {
	for bad, part := range map[string]string{
		`{"maxSkip":3}`:                  `unknown field "maxSkip"`,
		`{"maxSkips":-7}`:                "-7",
		`{"factor":-1}`:                  "-1",
		`{"bound":"median"}`:             "median",
		`{"period":"-1h"}`:               "-1h",
		`{"permitTimeout":"-1s"}`:        "-1s",
		`{"permitTimeout":"15m1s"}`:      "15m1s",
		`{"measureInterval":"99ms"}`:     "99ms",
		`{"configMap":"history"}`:        "history",
		`{"configMap":"a/b/c"}`:          "a/b/c",
		`{"records":-1}`:                 "-1",
		`{"factor":1`:                    "EOF",
		`{"file":"a","configMap":"b/c"}`: "one of them",
	} {
		_, err := plugin.New(context.Background(), &runtime.Unknown{Raw: []byte(bad)}, nil)
		require.ErrorIs(t, err, plugin.ErrArgs, bad)
		require.ErrorContains(t, err, part, bad)
	}
}

// A module that imports the plugin needs no replace lines for Kubernetes, as the
// plugin imports its staging modules only.
func TestImportersNeedNoReplaceLines(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("go.mod", fmt.Sprintf(`module example.com/mine

go 1.26.0

require github.com/gangkit/gangkit/examples/kube v0.0.0

replace (
	github.com/gangkit/gangkit => %q
	github.com/gangkit/gangkit/examples/kube => %q
)
`, root, filepath.Join(root, "examples", "kube")))
	write("main.go", "package main\n\nimport _ \"github.com/gangkit/gangkit/examples/kube/plugin\"\n\nfunc main() {}\n")
	list := exec.Command("go", "list", "-mod=mod", "-deps", ".")
	list.Dir, list.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := list.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "k8s.io/kube-scheduler/framework")
	require.NotContains(t, string(out), "k8s.io/kubernetes/")
}
