/* FPSR and the instructions on it. */
#include "feed/ia64/fp.h"

#define SF_SHIFT(sf) (6 + 13 * (sf))

bool ia64_fpsr_valid(uint64_t fpsr)
{
	if (fpsr & IA64_FPSR_RESERVED || ia64_fpsr_controls(fpsr, 0) & IA64_SF_TD)
		return false;
	for (unsigned sf = 0; sf < 4; sf++)
		if ((ia64_fpsr_controls(fpsr, sf) & IA64_SF_PC) == 0x4)
			return false;
	return true;
}

bool ia64_fsetc(uint64_t *fpsr, unsigned sf, unsigned amask7, unsigned omask7)
{
	uint64_t controls = (ia64_fpsr_controls(*fpsr, 0) & amask7) | omask7;
	uint64_t changed =
	    (*fpsr & ~((uint64_t)IA64_SF_CONTROLS << SF_SHIFT(sf))) | controls << SF_SHIFT(sf);

	if (!ia64_fpsr_valid(changed))
		return false;
	*fpsr = changed;
	return true;
}

uint64_t ia64_fclrf(uint64_t fpsr, unsigned sf)
{
	return fpsr & ~((uint64_t)IA64_FP_FLAGS << (SF_SHIFT(sf) + 7));
}

bool ia64_fchkf(uint64_t fpsr, unsigned sf)
{
	unsigned flags = ia64_fpsr_flags(fpsr, sf);

	return flags & (~fpsr | ~ia64_fpsr_flags(fpsr, 0)) & IA64_FP_FLAGS;
}
