//go:build race

package spaceshare_test

// slow says that everything takes ten times as long.
const slow = true
