/*
 * LIKWID's marker macros as regions of pmulab stat --by region: in place of LIKWID's header of this
 * name (cc -I PREFIX/include/pmulab-likwid), with or without LIKWID_PERFMON. Nothing is linked.
 *
 * What is counted is chosen on pmulab's command line, and printed there: LIKWID_MARKER_GET gives no
 * events, no time and no calls.
 */
#ifndef LIKWID_MARKER_H
#define LIKWID_MARKER_H

#include "../pmulab/region.h"

#define LIKWID_MARKER_INIT
#define LIKWID_MARKER_THREADINIT
#define LIKWID_MARKER_SWITCH
#define LIKWID_MARKER_REGISTER(regionTag) ((void)(regionTag))
#define LIKWID_MARKER_START(regionTag)	  PMU_REGION_BEGIN_NAMED(regionTag)
#define LIKWID_MARKER_STOP(regionTag)	  PMU_REGION_END_NAMED(regionTag)
#define LIKWID_MARKER_CLOSE
#define LIKWID_MARKER_RESET(regionTag) ((void)(regionTag))
#define LIKWID_MARKER_GET(regionTag, nevents, events, time, count)                                 \
	((void)(regionTag), (void)(events), (void)(*(nevents) = 0), (void)(*(time) = 0),           \
	 (void)(*(count) = 0))

#endif
