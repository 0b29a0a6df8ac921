package swf

import "strconv"

// limit is the magnitude from which on numbers are refused.
const limit = 1 << 53

// blank is the white space that separates fields. '\n' is in it because it ends
// the last one.
var blank = [256]bool{' ': true, '\t': true, '\r': true, '\v': true, '\f': true, '\n': true}

// pow10 are powers of ten that float64 holds exactly.
var pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// scan reads the fields of line, which starts with a field and ends in '\n',
// into v. It returns how many it could read, and the rest of the line, which
// starts with the field at fault if there is one. The line is good if 18 fields
// were read and the rest is "\n".
//
// Nearly all fields are short numbers without an exponent. For those, digits
// with the point left out are an integer m, and the value is m/10^f. If m < 2^53
// and f ≤ 22 both are float64s, so that the one rounding of the division gives
// the float64 nearest to the decimal (W. D. Clinger, "How to read floating point
// numbers accurately", PLDI 1990). All others go through strconv.
func scan(line []byte, v *[fields]float64) (int, []byte) {
	i := 0
	for f := range v {
		start := i
		negative := line[i] == '-'
		if negative {
			i++
		}
		digits := i
		m := uint64(0)
		for d := line[i] - '0'; d <= 9; d = line[i] - '0' {
			m = m*10 + uint64(d)
			i++
		}
		n := i - digits // digits so far; m is right while there are at most 19
		fraction := 0
		if line[i] == '.' {
			i++
			point := i
			for d := line[i] - '0'; d <= 9; d = line[i] - '0' {
				m = m*10 + uint64(d)
				i++
			}
			fraction = i - point
			n += fraction
		}
		if n > 0 && n < len(pow10) && m < limit && blank[line[i]] {
			x := float64(m)
			if fraction > 0 {
				x /= pow10[fraction]
			}
			if negative {
				x = -x
			}
			v[f] = x
		} else {
			for !blank[line[i]] {
				i++
			}
			x, err := number(line[start:i])
			if err != nil {
				return f, line[start:]
			}
			v[f] = x
		}
		for line[i] != '\n' && blank[line[i]] {
			i++
		}
		if line[i] == '\n' {
			return f + 1, line[i:]
		}
	}
	return fields, line[i:]
}

// number reads any decimal number: sign, digits with or without a point,
// exponent.
func number(field []byte) (float64, error) {
	for _, c := range field {
		switch {
		case isDigit(c), c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default: // strconv would take 0x1p4, nan and infinity
			return 0, ErrNumber
		}
	}
	x, err := strconv.ParseFloat(string(field), 64)
	switch {
	case x >= limit, x <= -limit: // also what overflows: strconv says ±Inf
		return 0, ErrRange
	case err != nil:
		return 0, ErrNumber
	}
	return x, nil
}

// field is the part of line before the first white space.
func field(line []byte) []byte {
	for i, c := range line {
		if blank[c] {
			return line[:i]
		}
	}
	return line
}

// count is the number of fields in line.
func count(line []byte) int {
	n := 0
	before := true
	for _, c := range line {
		if before && !blank[c] {
			n++
		}
		before = blank[c]
	}
	return n
}
