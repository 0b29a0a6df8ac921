//go:build !race

package spaceshare_test

const slow = false
