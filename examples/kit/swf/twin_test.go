package swf_test

import (
	"bufio"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gangkit/gangkit/examples/kit/swf"
)

// twin reads jobs in the obvious way.
func twin(in io.Reader, yield func(swf.Job)) error {
	s := bufio.NewScanner(in)
	for n := int64(1); s.Scan(); n++ {
		f := strings.Fields(s.Text())
		if len(f) == 0 || f[0][0] == ';' {
			continue
		}
		if len(f) != 18 {
			return errors.New("not 18 fields")
		}
		var v [18]float64
		for i := range f {
			var err error
			if v[i], err = strconv.ParseFloat(f[i], 64); err != nil {
				return err
			}
			if !(math.Abs(v[i]) < 1<<53) {
				return errors.New("out of range")
			}
		}
		yield(swf.Job{
			Line: n, Number: int64(v[0]), Submit: v[1], Wait: v[2], Run: v[3],
			Allocated: int64(v[4]), CPUTime: v[5], UsedMemory: v[6],
			Requested: int64(v[7]), RequestedTime: v[8], RequestedMemory: v[9],
			Status: int64(v[10]), User: int64(v[11]), Group: int64(v[12]), Executable: int64(v[13]),
			Queue: int64(v[14]), Partition: int64(v[15]), Preceding: int64(v[16]), ThinkTime: v[17],
		})
	}
	return s.Err()
}
