/* The way of a miss while nobody needs its signals one by one: see totals.h. */
#define MACHINE_EMITS 0
#define MACHINE_PATH  static MACHINE_INLINE

#define dram_init	  dram_init_quiet
#define dram_read	  dram_read_quiet
#define dram_read_late	  dram_read_late_quiet
#define dram_refresh	  dram_refresh_quiet
#define dram_write	  dram_write_quiet
#define home_flush	  home_flush_quiet
#define home_own	  home_own_quiet
#define home_read	  home_read_quiet
#define home_write	  home_write_quiet
#define memory_advance	  memory_advance_quiet
#define memory_drain	  memory_drain_quiet
#define memory_init	  memory_init_quiet
#define memory_read	  memory_read_quiet
#define memory_statistics memory_statistics_quiet
#define memory_write	  memory_write_quiet
#define miss_get	  miss_get_quiet
#define miss_prefetch	  miss_prefetch_quiet
#define slice_has	  slice_has_quiet
#define slice_flush	  slice_flush_quiet
#define slice_hit	  slice_hit_quiet
#define slice_miss	  slice_miss_quiet
#define slice_own	  slice_own_quiet
#define slice_prefetch	  slice_prefetch_quiet
#define slice_read	  slice_read_quiet
#define slice_snoop	  slice_snoop_quiet
#define slice_write	  slice_write_quiet

#include "memory_dram.c"

#include "memory.c"

#include "slice.c"

#include "home.c"

#include "miss.c"
