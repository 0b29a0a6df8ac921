// Package study asks whether a job should wait for memory or page: what is the best
// limit C, if running jobs may demand C times the memory that there is?
//
// The package carries no promise of compatibility.
package study
