package report_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rgb is linear light.
type rgb [3]float64

func colour(t *testing.T, hex string) (c rgb) {
	t.Helper()
	if len(hex) == 4 {
		hex = fmt.Sprintf("#%[1]c%[1]c%[2]c%[2]c%[3]c%[3]c", hex[1], hex[2], hex[3])
	}
	var v [3]int
	_, err := fmt.Sscanf(hex, "#%02x%02x%02x", &v[0], &v[1], &v[2])
	require.NoError(t, err, hex)
	for i := range v {
		if x := float64(v[i]) / 255; x <= .04045 {
			c[i] = x / 12.92
		} else {
			c[i] = math.Pow((x+.055)/1.055, 2.4)
		}
	}
	return c
}

// against returns the contrast of WCAG 2.
func (c rgb) against(d rgb) float64 {
	light := func(c rgb) float64 { return .2126*c[0] + .7152*c[1] + .0722*c[2] + .05 }
	return max(light(c), light(d)) / min(light(c), light(d))
}

// lab returns the colour in CIE L*a*b*, in which distances are what people see.
func (c rgb) lab() [3]float64 {
	f := func(r, g, b, white float64) float64 {
		v := max(0, r*c[0]+g*c[1]+b*c[2]) / white
		if v > .008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16./116
	}
	x, y, z := f(.4124, .3576, .1805, .9505), f(.2126, .7152, .0722, 1), f(.0193, .1192, .9505, 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// sights are what eyes make of a colour: G. M. Machado, M. M. Oliveira and
// L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color
// Vision Deficiency", IEEE TVCG 15(6), 2009, severity 1.
var sights = map[string][3]rgb{
	"usual":        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{.152286, 1.052583, -.204868}, {.114503, .786281, .099216}, {-.003882, -.048116, 1.051998}},
	"deuteranopia": {{.367322, .860646, -.227968}, {.280085, .672501, .047413}, {-.011820, .042940, .968881}},
	"tritanopia":   {{1.255528, -.076749, -.178779}, {-.078411, .930809, .147602}, {.004733, .691367, .303900}},
}

func TestColoursAreToldApart(t *testing.T) {
	css, err := os.ReadFile("page/page.css")
	require.NoError(t, err)
	themes := regexp.MustCompile(`--paper: (#\w+);[^}]*`).FindAllStringSubmatch(string(css), -1)
	require.Len(t, themes, 3, "day, night, paper")
	for _, theme := range themes {
		paper := colour(t, theme[1])
		var colours []rgb
		for _, m := range regexp.MustCompile(`--c\d: (#\w+);`).FindAllStringSubmatch(theme[0], -1) {
			colours = append(colours, colour(t, m[1]))
		}
		require.Len(t, colours, 7)
		for i, c := range colours {
			assert.GreaterOrEqual(t, c.against(paper), 3., "colour %d on %s", i, theme[1])
			for k, d := range colours[:i] {
				for name, m := range sights {
					see := func(c rgb) [3]float64 {
						var seen rgb
						for i, row := range m {
							seen[i] = min(max(row[0]*c[0]+row[1]*c[1]+row[2]*c[2], 0), 1)
						}
						return seen.lab()
					}
					assert.Greater(t, distance(see(c), see(d)), 15., "colours %d and %d on %s, %s", k, i, theme[1], name)
				}
			}
		}
	}
}
