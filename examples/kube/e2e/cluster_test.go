// Package e2e runs gangkit-scheduler against a real API server, as processes on
// loopback. Nodes are objects only: there is no kubelet.
package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/gangkit/gangkit/examples/kube/scenario"
)

// bin is where the binaries are built. It stays, so that they are linked once.
const bin = "bin"

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // they wait more than they compute
	begin := time.Now()
	build := exec.Command("go", "build", "-o", bin+"/", "./cmd/gangkit-apiserver", "github.com/gangkit/gangkit/examples/kube/cmd/gangkit-scheduler")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building:", err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "building: %.1f s\n", time.Since(begin).Seconds())
	os.Exit(m.Run())
}

// ports returns n free ports that follow each other.
func ports(t testing.TB, n int) int {
	t.Helper()
next:
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		first := l.Addr().(*net.TCPAddr).Port
		require.NoError(t, l.Close())
		for p := first; p < first+n; p++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
			if err != nil {
				continue next
			}
			require.NoError(t, l.Close())
		}
		return first
	}
	require.FailNow(t, "no free ports")
	return 0
}

// process is a running program with its log in a file.
type process struct {
	command *exec.Cmd
	log     string
	done    chan struct{}
}

// launch runs a program that is killed at the end of the test.
func launch(t testing.TB, log, name string, args ...string) *process {
	t.Helper()
	f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer f.Close()
	p := &process{exec.Command(filepath.Join(bin, name), args...), log, make(chan struct{})}
	p.command.Stdout, p.command.Stderr = f, f
	p.command.Env = append(os.Environ(), "GOGC=400") // they end soon
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, p.command.Start())
	go func() { _ = p.command.Wait(); close(p.done) }()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			text, _ := os.ReadFile(log)
			t.Logf("the end of %s:\n%s", filepath.Base(log), text[max(0, len(text)-6000):])
		}
	})
	return p
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.done
}

// cluster is an API server, with what is in front of it.
type cluster struct {
	scenario.Cluster
	dir      string
	port     int
	etcdPort int
	flags    []string
	api      *process
	proxy    *proxy
}

// start starts an API server in a folder of its own, and makes in it what the
// manifests say.
func start(t testing.TB, flags ...string) *cluster {
	t.Helper()
	c := &cluster{dir: t.TempDir(), port: ports(t, 1), etcdPort: ports(t, 2), flags: flags}
	client, err := kubernetes.NewForConfig(c.config("admin"))
	require.NoError(t, err)
	c.Cluster = scenario.Cluster{Client: client, Namespace: "default", Scheduler: "gangkit"}
	c.startAPI(t)
	c.apply(t)
	c.proxy = newProxy(t, c.port)
	return c
}

func (c *cluster) config(token string) *rest.Config {
	return &rest.Config{
		Host: fmt.Sprintf("https://127.0.0.1:%d", c.port), BearerToken: token,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: 5000, Burst: 5000,
	}
}

// clear deletes what a test has left, the history included.
func (c *cluster) clear(t testing.TB) {
	t.Helper()
	c.Clear(t)
	err := c.Client.CoreV1().ConfigMaps("kube-system").Delete(context.Background(), "gangkit-history", metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		require.NoError(t, err)
	}
}

// startAPI starts the API server, maybe again, and waits until it serves.
func (c *cluster) startAPI(t testing.TB) {
	t.Helper()
	args := append([]string{
		"-dir", c.dir, "-port", fmt.Sprint(c.port), "-etcd-port", fmt.Sprint(c.etcdPort),
	}, c.flags...)
	c.api = launch(t, filepath.Join(c.dir, "apiserver.log"), "gangkit-apiserver", args...)
	scenario.Eventually(t, "the API server", func() bool {
		select {
		case <-c.api.done:
			require.FailNow(t, "the API server has ended")
		default:
		}
		ctx := context.Background()
		if c.Client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() != nil {
			return false
		}
		for _, name := range []string{"default", "kube-system"} { // they come later
			if _, err := c.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil {
				return false
			}
		}
		return true
	})
}

const manifests = "../manifests/gangkit-scheduler.yaml"

// apply creates the objects of the manifests that the API server itself needs: who
// may what.
func (c *cluster) apply(t testing.TB) {
	t.Helper()
	ctx, o := context.Background(), metav1.CreateOptions{}
	for _, document := range documents(t) {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
		require.NoError(t, err)
		switch x := object.(type) {
		case *rbac.ClusterRole:
			_, err = c.Client.RbacV1().ClusterRoles().Create(ctx, x, o)
		case *rbac.ClusterRoleBinding:
			_, err = c.Client.RbacV1().ClusterRoleBindings().Create(ctx, x, o)
		case *rbac.Role:
			_, err = c.Client.RbacV1().Roles(x.Namespace).Create(ctx, x, o)
		case *rbac.RoleBinding:
			_, err = c.Client.RbacV1().RoleBindings(x.Namespace).Create(ctx, x, o)
		}
		require.NoError(t, err)
	}
}

func documents(t testing.TB) [][]byte {
	t.Helper()
	text, err := os.ReadFile(manifests)
	require.NoError(t, err)
	return bytes.Split(text, []byte("\n---\n"))
}

// setting is how a scheduler of a test differs from that of the manifests.
type setting struct {
	plain  bool           // without the plugin
	leader map[string]any // settings of leader election, which is off without
	args   map[string]any // of the plugin
	flags  []string
}

// scheduler is a running scheduler.
type scheduler struct {
	*process
	port int
}

// startScheduler starts gangkit-scheduler with the configuration of the manifests,
// as the user that they say.
func (c *cluster) startScheduler(t testing.TB, s setting) *scheduler {
	t.Helper()
	var object v1.ConfigMap
	for _, document := range documents(t) {
		var m v1.ConfigMap
		if yaml.Unmarshal(document, &m) == nil && m.Kind == "ConfigMap" {
			object = m
		}
	}
	var config map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(object.Data["config.yaml"]), &config))
	leader := config["leaderElection"].(map[string]any)
	leader["leaderElect"] = s.leader != nil
	for k, v := range s.leader {
		leader[k] = v
	}
	config["podInitialBackoffSeconds"], config["podMaxBackoffSeconds"] = 1, 2
	profile := config["profiles"].([]any)[0].(map[string]any)
	args := profile["pluginConfig"].([]any)[0].(map[string]any)["args"].(map[string]any)
	args["maxSkips"], args["saveInterval"] = scenario.K, "200ms"
	for k, v := range s.args {
		args[k] = v
	}
	if s.plain {
		delete(profile, "plugins")
		delete(profile, "pluginConfig")
	}
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	config["clientConnection"] = map[string]any{"kubeconfig": kubeconfig, "qps": 5000, "burst": 5000}
	text, err := yaml.Marshal(config)
	require.NoError(t, err)
	file := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:%d", insecure-skip-tls-verify: true}}]
users: [{name: scheduler, user: {token: scheduler}}]
contexts: [{name: test, context: {cluster: test, user: scheduler}}]
current-context: test
`, c.proxy.port), 0o600))
	port := ports(t, 1)
	p := launch(t, filepath.Join(dir, "scheduler.log"), "gangkit-scheduler", append([]string{
		"--config=" + file, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + dir, "--authorization-always-allow-paths=/healthz,/metrics", "--v=2",
	}, s.flags...)...)
	return &scheduler{p, port}
}

// metrics returns what /metrics says.
func (s *scheduler) metrics() string {
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	r, err := client.Get(fmt.Sprintf("https://127.0.0.1:%d/metrics", s.port))
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return string(text)
}

// metric waits until a line of the metrics is there.
func (s *scheduler) metric(t testing.TB, line string) {
	t.Helper()
	scenario.Eventually(t, "metric "+line, func() bool { return strings.Contains(s.metrics(), "\n"+line+"\n") })
}

// proxy is between the schedulers and the API server, and can fail.
type proxy struct {
	port, to int
	mu       sync.Mutex
	thaw     *sync.Cond
	frozen   bool
	open     map[net.Conn]bool
}

func newProxy(t testing.TB, to int) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{port: l.Addr().(*net.TCPAddr).Port, to: to, open: map[net.Conn]bool{}}
	p.thaw = sync.NewCond(&p.mu)
	t.Cleanup(func() {
		_ = l.Close()
		p.freeze(false)
		p.cut()
	})
	go func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				go p.serve(conn)
			}
		}
	}()
	return p
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.to))
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.open[client], p.open[server] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.open, client)
		delete(p.open, server)
		p.mu.Unlock()
	}()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		p.mu.Lock()
		for p.frozen {
			p.thaw.Wait()
		}
		p.mu.Unlock()
		if _, failed := server.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// freeze keeps back what schedulers ask, while they go on to hear what the API
// server tells.
func (p *proxy) freeze(frozen bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = frozen
	p.thaw.Broadcast()
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		_ = conn.Close()
	}
}
