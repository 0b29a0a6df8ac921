package claim_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gangkit/gangkit/examples/kit/claim"
)

func TestJudge(t *testing.T) {
	assert.Equal(t, claim.Reproduced, claim.Judge(true, true))
	assert.Equal(t, claim.Partly, claim.Judge(true, false))
	assert.Equal(t, claim.NotReproduced, claim.Judge(false, false))
	assert.PanicsWithValue(t, "claim: nothing to judge", func() { claim.Judge() })
}

func ExampleWriteText() {
	err := claim.WriteText(os.Stdout, []claim.Claim{{
		ID: "X-1", Source: "§4, Fig. 2", Says: "the limit helps", Expected: "response below 10 s",
		Measured: "8 s at load .5\n12 s at load .9", Verdict: claim.Judge(true, false), Why: "the machine saturates at .85",
	}})
	if err != nil {
		panic(err)
	}
	// Output:
	//
	// X-1   §4, Fig. 2: the limit helps
	//       expected  response below 10 s
	//       measured  8 s at load .5
	//                 12 s at load .9
	//       verdict   reproduced in part
	//       why       the machine saturates at .85
}
