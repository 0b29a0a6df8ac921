package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	fwk "k8s.io/kube-scheduler/framework"
)

// store is where a history is kept.
type store interface {
	load(context.Context) ([]byte, error) // nil if there is none yet
	save(context.Context, []byte) error
}

// MaxConfigMap is the most that a ConfigMap holds, in bytes.
const MaxConfigMap = 1 << 20

// configMapKey is the key of the history in the binaryData of its ConfigMap.
const configMapKey = "history"

// openStore returns where the arguments say that the history is kept. A file must be
// readable, if it exists.
func openStore(a Args, handle fwk.Handle) (store, error) {
	switch {
	case a.ConfigMap != "":
		namespace, name, _ := strings.Cut(a.ConfigMap, "/")
		return &configMap{client: handle.ClientSet(), namespace: namespace, name: name}, nil
	case a.File != "":
		f := file(a.File)
		if _, err := f.load(context.Background()); err != nil {
			return nil, fmt.Errorf("plugin: history: %w", err)
		}
		return f, nil
	default:
		return nowhere{}, nil
	}
}

type nowhere struct{}

func (nowhere) load(context.Context) ([]byte, error) { return nil, nil }
func (nowhere) save(context.Context, []byte) error   { return nil }

// file is a path.
type file string

func (f file) load(context.Context) ([]byte, error) {
	data, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// save replaces the file as a whole, or not at all.
func (f file) save(_ context.Context, data []byte) error {
	t, err := os.CreateTemp(filepath.Dir(string(f)), filepath.Base(string(f))+".*")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	if _, err := t.Write(data); err != nil {
		t.Close()
		return err
	}
	if err := errors.Join(t.Sync(), t.Close()); err != nil {
		return err
	}
	return os.Rename(t.Name(), string(f))
}

// configMap writes only over what it has read or written itself, so that a scheduler
// that leads no more does not undo what its successor saved. If it finds something
// else it reads that, and writes over it the next time: somebody has changed the
// object, or the answer to a save was lost. One that leads no more has ended then.
type configMap struct {
	client          kubernetes.Interface
	namespace, name string

	mu   sync.Mutex
	last *v1.ConfigMap // read or written; nil if there is none
}

func (c *configMap) load(ctx context.Context) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.read(ctx); err != nil || c.last == nil {
		return nil, err
	}
	return c.last.BinaryData[configMapKey], nil
}

func (c *configMap) read(ctx context.Context) error {
	m, err := c.client.CoreV1().ConfigMaps(c.namespace).Get(ctx, c.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		c.last = nil
	case err != nil:
		return err
	default:
		c.last = m
	}
	return nil
}

func (c *configMap) save(ctx context.Context, data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(data) > MaxConfigMap {
		return fmt.Errorf("the history has %d bytes, a ConfigMap holds %d: keep fewer records, or a file", len(data), MaxConfigMap)
	}
	maps := c.client.CoreV1().ConfigMaps(c.namespace)
	var saved *v1.ConfigMap
	var err error
	if c.last != nil {
		m := c.last.DeepCopy()
		if m.BinaryData == nil {
			m.BinaryData = map[string][]byte{}
		}
		m.BinaryData[configMapKey] = data
		saved, err = maps.Update(ctx, m, metav1.UpdateOptions{})
	} else {
		saved, err = maps.Create(ctx, &v1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.name},
			BinaryData: map[string][]byte{configMapKey: data},
		}, metav1.CreateOptions{})
	}
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return errors.Join(err, c.read(ctx))
	}
	if err != nil {
		return err
	}
	c.last = saved
	return nil
}
