#include "cli/show.h"

#define CACHE_KEY_MAX 32

static unsigned cache_number(const struct pmu_machine *machine, const char *cache, const char *what)
{
	char key[CACHE_KEY_MAX];

	snprintf(key, sizeof(key), "%s.%s", cache, what);
	return cli_machine_number(machine, key);
}

static void show_cache(const struct show *show, const char *label,
		       const struct pmu_machine *machine, const char *cache)
{
	unsigned sets = cache_number(machine, cache, "sets");
	unsigned ways = cache_number(machine, cache, "ways");

	fprintf(show->cli->out, "  %-12s %u KB, %u ways, %u sets, latency %u\n", label,
		sets * ways / 16, ways, sets, cache_number(machine, cache, "latency"));
}

static void show_x86(const struct show *show, const struct pmu_machine *m, uint64_t bytes)
{
	FILE *out = show->cli->out;

	fprintf(out, "  %-12s %u of %u cores, %u LLC slices, %u home agents with %u channels\n",
		"sockets", cli_machine_number(m, "sockets"), cli_machine_number(m, "cores"),
		cli_machine_number(m, "slices"), cli_machine_number(m, "home_agents"),
		cli_machine_number(m, "channels"));
	fprintf(out, "  %-12s core %u, uncore %u, DRAM %u, PCU %u, QPI %u MHz\n", "clocks",
		cli_machine_number(m, "core_mhz"), cli_machine_number(m, "uclk_mhz"),
		cli_machine_number(m, "dclk_mhz"), cli_machine_number(m, "pclk_mhz"),
		cli_machine_number(m, "qfclk_mhz"));
	show_cache(show, "L1I", m, "l1i");
	show_cache(show, "L1D", m, "l1d");
	show_cache(show, "L2", m, "l2");
	show_cache(show, "LLC slice", m, "llc");
	fprintf(out, "  %-12s %llu GB a socket, %u ranks of %u banks a channel, %u KB rows\n",
		"memory", (unsigned long long)(bytes >> 30), cli_machine_number(m, "ranks"),
		cli_machine_number(m, "banks"), cli_machine_number(m, "row_bytes") >> 10);
	fprintf(out,
		"  %-12s issue %u a cycle, reorder window %u, %u fill buffers, locked access %u "
		"cycles\n",
		"core", cli_machine_number(m, "issue_width"),
		cli_machine_number(m, "reorder_window"), cli_machine_number(m, "fill_buffers"),
		cli_machine_number(m, "locked_cycles"));
	fprintf(out, "  %-12s IRQ %u, TOR %u, tracker %u, RPQ %u, WPQ %u (drains from %u to %u)\n",
		"queues", cli_machine_number(m, "irq_entries"),
		cli_machine_number(m, "tor_entries"), cli_machine_number(m, "tracker_entries"),
		cli_machine_number(m, "rpq_entries"), cli_machine_number(m, "wpq_entries"),
		cli_machine_number(m, "wpq_high"), cli_machine_number(m, "wpq_low"));
	fprintf(out, "  %-12s ring %u, home agent %u, link %u (line %u), snoop %u uncore cycles\n",
		"latencies", cli_machine_number(m, "ring_hop"), cli_machine_number(m, "ha_cycles"),
		cli_machine_number(m, "link_cycles"), cli_machine_number(m, "link_line_cycles"),
		cli_machine_number(m, "snoop_cycles"));
	fprintf(out,
		"  %-12s CL %u, CWL %u, RCD %u, RP %u, RAS %u, burst %u, REFI %u, RFC %u, WR %u, "
		"WTR %u, RTP %u DRAM cycles\n",
		"DRAM", cli_machine_number(m, "t_cl"), cli_machine_number(m, "t_cwl"),
		cli_machine_number(m, "t_rcd"), cli_machine_number(m, "t_rp"),
		cli_machine_number(m, "t_ras"), cli_machine_number(m, "t_burst"),
		cli_machine_number(m, "t_refi"), cli_machine_number(m, "t_rfc"),
		cli_machine_number(m, "t_wr"), cli_machine_number(m, "t_wtr"),
		cli_machine_number(m, "t_rtp"));
	fprintf(out, "  %-12s %u bank groups, CCD_L %u, RRD_S %u, RRD_L %u, FAW %u DRAM cycles\n",
		"", cli_machine_number(m, "bank_groups"), cli_machine_number(m, "t_ccd_l"),
		cli_machine_number(m, "t_rrd_s"), cli_machine_number(m, "t_rrd_l"),
		cli_machine_number(m, "t_faw"));
}

static void show_ia64(const struct show *show, const struct pmu_machine *m, uint64_t bytes)
{
	FILE *out = show->cli->out;

	fprintf(out, "  %-12s %u of %u cores with %u threads\n", "sockets",
		cli_machine_number(m, "sockets"), cli_machine_number(m, "cores"),
		cli_machine_number(m, "threads_per_core"));
	fprintf(out, "  %-12s %s, %u MHz\n", "core", pmu_machine_core(m),
		cli_machine_number(m, "core_mhz"));
	fprintf(out, "  %-12s %llu GB a socket\n", "memory", (unsigned long long)(bytes >> 30));
}

void show_machine(const struct show *show, const struct pmu_machine *m)
{
	uint64_t bytes = 0;

	pmu_machine_number(m, "memory_bytes", &bytes);
	fprintf(show->cli->out, "machine %s\n", pmu_machine_name(m));
	show_line(show, "is", pmu_machine_title(m));
	show_line(show, "PMU", pmu_machine_pmu_name(m));
	if (pmu_machine_core(m))
		show_ia64(show, m, bytes);
	else
		show_x86(show, m, bytes);
	show_line(show, "source", pmu_machine_source(m));
}
