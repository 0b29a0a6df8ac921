// Command gangkit-apiserver is kube-apiserver with an etcd in the same process, on
// loopback, for tests: two users, no kubelets, no controllers. It keeps its data in a
// folder, so that it can be killed and started again.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	dir := flag.String("dir", "", "`folder` of the data")
	port := flag.Int("port", 16443, "`port` of the API")
	etcdPort := flag.Int("etcd-port", 12379, "`port` of etcd; the next one is taken as well")
	scheduler := flag.String("scheduler", "system:serviceaccount:kube-system:gangkit-scheduler", "`user` whose token is \"scheduler\"; that of an administrator is \"admin\"")
	gates := flag.String("feature-gates", "", "feature `gates`")
	apis := flag.String("runtime-config", "", "`APIs` to serve besides")
	flag.Parse()
	if *dir == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "gangkit-apiserver: -dir is required, and there are no arguments")
		os.Exit(2)
	}
	if err := run(*dir, *port, *etcdPort, *scheduler, *gates, *apis); err != nil {
		fmt.Fprintln(os.Stderr, "gangkit-apiserver:", err)
		os.Exit(1)
	}
}

func run(dir string, port, etcdPort int, scheduler, gates, apis string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	endpoint, err := startEtcd(filepath.Join(dir, "etcd"), etcdPort)
	if err != nil {
		return err
	}
	key := filepath.Join(dir, "service-accounts.key")
	if err := writeKey(key); err != nil {
		return err
	}
	tokens := filepath.Join(dir, "tokens.csv")
	users := "admin,admin,admin,system:masters\nscheduler," + scheduler + ",scheduler,system:serviceaccounts\n"
	if err := os.WriteFile(tokens, []byte(users), 0o600); err != nil {
		return err
	}
	command := app.NewAPIServerCommand()
	args := []string{
		"--etcd-servers=" + endpoint,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + filepath.Join(dir, "certificates"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--token-auth-file=" + tokens,
		"--authorization-mode=RBAC",
		// Nobody makes service accounts here, and nobody untaints nodes.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--endpoint-reconciler-type=none",
		"--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000",
	}
	if gates != "" {
		args = append(args, "--feature-gates="+gates)
	}
	if apis != "" {
		args = append(args, "--runtime-config="+apis)
	}
	command.SetArgs(args)
	if code := cli.Run(command); code != 0 {
		return fmt.Errorf("kube-apiserver ended with %d", code)
	}
	return nil
}

// startEtcd starts etcd and returns its endpoint once it is ready.
func startEtcd(dir string, port int) (string, error) {
	client := url.URL{Scheme: "http", Host: "127.0.0.1:" + strconv.Itoa(port)}
	peer := url.URL{Scheme: "http", Host: "127.0.0.1:" + strconv.Itoa(port+1)}
	c := embed.NewConfig()
	c.Dir = dir
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.LogLevel = "error"
	c.UnsafeNoFsync = true // a killed process loses nothing by that
	etcd, err := embed.StartEtcd(c)
	if err != nil {
		return "", err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return client.String(), nil
	case err := <-etcd.Err():
		return "", err
	case <-time.After(30 * time.Second):
		return "", errors.New("etcd is not ready after 30 s")
	}
}

// writeKey writes a new private key, unless there is one.
func writeKey(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}
