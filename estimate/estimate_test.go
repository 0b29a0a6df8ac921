package estimate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gangkit/gangkit/estimate"
)

func TestFirstOfAsksInOrder(t *testing.T) {
	asked := ""
	size := func(name string, bytes int64, ok bool) estimate.Estimator {
		return estimate.Executable(func(path string) (int64, bool) {
			assert.Equal(t, job.Path, path)
			asked += name
			return bytes, ok
		})
	}
	for _, c := range []struct {
		estimator estimate.Estimator
		want      estimate.Estimate
		asked     string
	}{
		{estimate.FirstOf(), estimate.Estimate{}, ""},
		{estimate.FirstOf(estimate.Constant(5)), estimate.Estimate{Memory: 5, Level: estimate.ByConstant}, ""},
		{estimate.FirstOf(estimate.Constant(0), estimate.Constant(5)), estimate.Estimate{Level: estimate.ByConstant}, ""},
		{estimate.FirstOf(estimate.Constant(-1), size("a", 7, true), estimate.Constant(5)), estimate.Estimate{Memory: 7, Level: estimate.ByExecutable}, "a"},
		{estimate.FirstOf(size("a", 7, false), size("b", -7, true), size("c", 8, true), size("d", 9, true)), estimate.Estimate{Memory: 8, Level: estimate.ByExecutable}, "abc"},
		{estimate.FirstOf(size("a", 7, false), estimate.Constant(-1)), estimate.Estimate{}, "a"},
		{estimate.FirstOf(estimate.FirstOf(), estimate.FirstOf(estimate.Constant(5))), estimate.Estimate{Memory: 5, Level: estimate.ByConstant}, ""},
	} {
		asked = ""
		e, ok := c.estimator.Estimate(job)
		assert.Equal(t, c.want, e)
		assert.Equal(t, c.want.Level != estimate.None, ok)
		assert.Equal(t, c.asked, asked)
	}
}

func TestLevelsHaveNames(t *testing.T) {
	for level, want := range map[estimate.Level]string{
		estimate.None: "none", estimate.ByPathNodesUser: "path, nodes, user", estimate.ByPathNodes: "path, nodes", estimate.ByPath: "path",
		estimate.ByExecutable: "executable", estimate.ByConstant: "constant", -1: "Level(-1)", 6: "Level(6)",
	} {
		assert.Equal(t, want, level.String())
	}
}

func TestEstimatesDoNotAllocate(t *testing.T) {
	memory := estimate.FirstOf(estimate.Executable(func(string) (int64, bool) { return 0, false }), estimate.Constant(5))
	assert.Zero(t, testing.AllocsPerRun(100, func() { memory.Estimate(job) }))
}
