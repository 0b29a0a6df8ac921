package swf

// fields is the number of fields of a job line.
const fields = 18

var fieldNames = [fields]string{
	"job number", "submit time", "wait time", "run time",
	"allocated processors", "CPU time", "used memory",
	"requested processors", "requested time", "requested memory",
	"status", "user", "group", "executable", "queue", "partition",
	"preceding job", "think time",
}

// Job is one line of a log: its 18 fields as they stand there. Times are in
// seconds and may have fractions, memory is in KB per processor, and any field
// may be negative (mostly -1) for unknown.
type Job struct {
	Line int64 // line number in the file, 1-based; not written

	Number    int64   // 1: counts from 1, with gaps in cleaned logs
	Submit    float64 // 2: since the start of the log
	Wait      float64 // 3: from submit to start
	Run       float64 // 4: from start to end; 0 is less than half a second
	Allocated int64   // 5: processors

	CPUTime    float64 // 6: user plus system, mean over the processors
	UsedMemory float64 // 7: mean over the processors; 0 is unknown, too

	Requested       int64   // 8: processors
	RequestedTime   float64 // 9: the user's estimate of field 4, in most logs
	RequestedMemory float64 // 10

	Status     int64 // 11: 1 completed, 0 failed, 5 cancelled, 2 to 4 a part of a job; or an exit code
	User       int64 // 12
	Group      int64 // 13
	Executable int64 // 14
	Queue      int64 // 15: 0 is interactive in most logs; the header explains
	Partition  int64 // 16

	Preceding int64   // 17: number of the job that must end before this one is submitted
	ThinkTime float64 // 18: from that end to this submission
}

// Processors is the job's size: the allocated count if it is positive, else the
// requested one if that is, else 0 for a job whose size is unknown. The result
// may exceed the machine.
func (j *Job) Processors() int64 {
	switch {
	case j.Allocated > 0:
		return j.Allocated
	case j.Requested > 0:
		return j.Requested
	}
	return 0
}

// Estimate is the requested time in seconds, or 0 if there was no request. The
// run time may be longer.
func (j *Job) Estimate() float64 { return max(j.RequestedTime, 0) }

// Memory is in KB per processor: used if it is positive, else requested if that
// is, else 0 for unknown.
func (j *Job) Memory() float64 {
	switch {
	case j.UsedMemory > 0:
		return j.UsedMemory
	case j.RequestedMemory > 0:
		return j.RequestedMemory
	}
	return 0
}

// set fills the fields from numbers in the order of the line; each is below
// 2^53 in magnitude.
func (j *Job) set(v *[fields]float64) {
	j.Number = int64(v[0])
	j.Submit = v[1]
	j.Wait = v[2]
	j.Run = v[3]
	j.Allocated = int64(v[4])
	j.CPUTime = v[5]
	j.UsedMemory = v[6]
	j.Requested = int64(v[7])
	j.RequestedTime = v[8]
	j.RequestedMemory = v[9]
	j.Status = int64(v[10])
	j.User = int64(v[11])
	j.Group = int64(v[12])
	j.Executable = int64(v[13])
	j.Queue = int64(v[14])
	j.Partition = int64(v[15])
	j.Preceding = int64(v[16])
	j.ThinkTime = v[17]
}

// values is the reverse of set. An integer of 2^53 or more may be rounded, but
// not to less than 2^53.
func (j *Job) values() [fields]float64 {
	return [fields]float64{
		float64(j.Number), j.Submit, j.Wait, j.Run,
		float64(j.Allocated), j.CPUTime, j.UsedMemory,
		float64(j.Requested), j.RequestedTime, j.RequestedMemory,
		float64(j.Status), float64(j.User), float64(j.Group), float64(j.Executable),
		float64(j.Queue), float64(j.Partition), float64(j.Preceding), j.ThinkTime,
	}
}
