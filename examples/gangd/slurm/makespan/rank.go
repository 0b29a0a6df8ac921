package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

// rank is a process of a gang of two: kind, number of steps, rounds of work in a millisecond.
func rank(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%d arguments, want 3", len(args))
	}
	steps, err1 := strconv.Atoi(args[1])
	rounds, err2 := strconv.ParseInt(args[2], 10, 64)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("not numbers: %q", args)
	}
	conn, err := meet(os.Getenv("GANGD_RANK"), os.Getenv("GANGD_ADDRESS"))
	if err != nil {
		return err
	}
	defer conn.Close()
	ready := make([]byte, 1)
	for range steps {
		if args[0] == "C" {
			work(100 * rounds)
		} else {
			work(50 * rounds)
			time.Sleep(150 * time.Millisecond)
		}
		if _, err := conn.Write(ready); err != nil {
			return err
		}
		if _, err := io.ReadFull(conn, ready); err != nil {
			return err
		}
	}
	return nil
}

// meet connects the two processes.
func meet(rank, address string) (net.Conn, error) {
	if rank == "0" {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		return listener.Accept()
	}
	for try := 0; ; try++ {
		conn, err := net.Dial("tcp", address)
		if err == nil || try == 1000 {
			return conn, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

var sink uint64

// work computes for so many rounds.
func work(rounds int64) {
	x := sink | 1
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink = x
}

// calibrate finds how many rounds take a millisecond of an idle processor.
func calibrate() int64 {
	const rounds = 10_000_000
	best := time.Duration(1<<63 - 1)
	for range 10 {
		begin := time.Now()
		work(rounds)
		best = min(best, time.Since(begin))
	}
	return max(1, int64(rounds*float64(time.Millisecond)/float64(max(best, 1))))
}
