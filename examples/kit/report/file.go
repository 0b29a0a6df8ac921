package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile makes path a file of what write writes, or leaves it as it was:
// when write fails there is no file, no half of one and no temporary one, and
// an old file keeps its content. Errors name the path.
//
// What write writes is kept in memory and goes to disk after write has
// returned: first into a temporary file in the same folder, then by a rename.
// So a program that is killed while write computes leaves nothing behind, and
// a write that returns ctx.Err() of a cancelled context writes nothing. Only a
// kill during the last copy to disk can leave the temporary file, whose name
// starts with a dot.
//
// Missing folders are made. A symbolic link is followed. Into something that
// is no regular file, such as /dev/stdout, the bytes go directly.
func WriteFile(path string, write func(io.Writer) error) error {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := replace(path, content.Bytes()); err != nil {
		// The operating system's error may name the temporary file: keep its cause.
		var pathError *fs.PathError
		var linkError *os.LinkError
		switch {
		case errors.As(err, &pathError):
			err = pathError.Err
		case errors.As(err, &linkError):
			err = linkError.Err
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func replace(path string, content []byte) (err error) {
	perm := fs.FileMode(0o644)
	switch old, err := os.Stat(path); {
	case err == nil && old.Mode().IsRegular():
		perm = old.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	case err == nil:
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // fails for a folder, as it should
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return errors.Join(err, f.Close())
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(content); err != nil {
		return err
	}
	if err = f.Chmod(perm); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Writable makes sure that files can be made in a folder, and makes the folder if
// there is none: better to learn that it cannot be before hours of work.
func Writable(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// WriteJSON writes v as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
