#include "cli/stat_usage.h"

#include "cli/cli.h"

void stat_print_usage_of_annotate(FILE *file)
{
	fputs("usage: pmulab annotate -M MACHINE [-e EVENT,...] [-m METRIC,...] [OPTIONS]\n"
	      "                       [--] PROGRAM [ARGUMENTS]\n"
	      "\n"
	      "Runs a program on an emulated machine, and prints its source with the counts\n"
	      "that each line causes. It has to be compiled with debug information. The same as\n"
	      "pmulab stat --by source:\n"
	      "\n",
	      file);
}

void stat_print_usage(FILE *file)
{
	fprintf(
	    file,
	    "usage: pmulab stat [-M MACHINE] [-e EVENT,...] [-m METRIC,...] [OPTIONS]\n"
	    "                   [--] PROGRAM [ARGUMENTS]\n"
	    "       pmulab stat -p PID | -C CPU,... | -a [-e EVENT,...] [OPTIONS]\n"
	    "       pmulab stat --dry-run [-M MACHINE | --pmu PMU] -e EVENT,...\n"
	    "       pmulab stat --replay FILE -e EVENT,...\n"
	    "\n"
	    "Runs a program and counts events, per socket and in total. The report goes to\n"
	    "standard error; of --dry-run and --replay, which run no program, to standard\n"
	    "output. The exit code is the program's.\n"
	    "\n"
	    "Example: pmulab stat -M %s -e imc.CAS_COUNT.RD -- ls\n"
	    "\n"
	    "With -M, the program runs on an emulated machine; without -e and -m, pmulab\n"
	    "counts the events that the machine's description names. Without -M, the program\n"
	    "runs on this computer, and the uncore counts everything that runs at that time.\n"
	    "Without events, or with names of libpfm4 (CYCLES, PAGE-FAULTS), the kernel counts\n"
	    "the program alone. Without PROGRAM, -C and -a count until Ctrl-C or --timeout.\n"
	    "\n"
	    "  -M, --machine MACHINE   a name from pmulab machines, or a file (FILE.json)\n"
	    "  -e, --event EVENT,...   count these events\n"
	    "  -m, --metric METRIC,... count the events of these metrics, and compute them\n"
	    "                          also NAME[UNIT]=EQUATION, of events and metrics\n"
	    "  -g, --group GROUP       count the events and metrics of a group: a name, a file, "
	    "or\n"
	    "                          LIKWID's EVENT:COUNTER,...; pmulab list groups\n"
	    "  --raw                   metrics by the manual's equation, in its unit: bytes, not\n"
	    "                          GB/s; cycles, not ns\n"
	    "  -a, --all-cpus          count all CPUs; uncore counters always do\n"
	    "  -C, --cpu CPU,...       count these CPUs, and the uncore of their sockets: 0,2-3\n"
	    "  -p, --pid PID           without -M: count until this process ends, and what the\n"
	    "                          kernel counts of it alone\n"
	    "  --feed qemu|valgrind    run the program in this emulator; default: qemu\n"
	    "  --root DIR              with -M: linker and libraries of a dynamic IA-64 program\n"
	    "  --pmu PMU               use this PMU; default: the processor's first\n",
	    cli_example_machine());
	fputs(
	    "  -A, --no-aggr, --per-box, --per-core\n"
	    "                          print each instance of a box\n"
	    "  --per-socket            print each socket; the default\n"
	    "  -I, --interval MS       print counts each MS milliseconds of the machine's time\n"
	    "  -D, --delay MS          begin to count after MS milliseconds\n"
	    "  --timeout MS            end the program after MS milliseconds\n"
	    "  --multiplex MS          groups of events take turns of MS milliseconds; counts\n"
	    "                          are estimates; with -M: the truth too. Without -M, what\n"
	    "                          the PMU cannot count at once takes turns of 100 ms\n"
	    "  -r, --repeat N          run N times; print means and standard deviations\n"
	    "  --repeat-groups         run once for each group of events that the PMU can count\n"
	    "                          at once; not needed with -M\n"
	    "  --by function|line|thread|region|source\n"
	    "                          with -M: print where the counts come from\n"
	    "  --format table|json|jsonl|csv\n"
	    "                          print the report in this format; jsonl: a line each\n"
	    "  -x, --separator CHAR    print CSV with this character between values\n"
	    "  -o, --output FILE       write the report to FILE; -: to standard output\n"
	    "  -v, --verbose           the same as --why\n"
	    "  --deterministic         with -M: threads run one at a time, in turns by emulated\n"
	    "                          time, so that each run gives the same counts\n"
	    "  --pin CPU,...           with -M: run threads on these cores: 0,2-3\n"
	    "  --membind NODE,...      with -M: place pages in the memory of these sockets\n"
	    "  --interleave NODE,...   with -M: place pages on these sockets in turns\n"
	    "  --prefetchers all|none|NAME,...\n"
	    "                          with -M: switch on only these of every core: streamer,\n"
	    "                          adjacent, next-line, stride\n"
	    "  --clock wall|machine    with -M: show the program this computer's time (default),\n"
	    "                          or the machine's\n"
	    "  --why                   print each event's PMU and counter, and what conflicts\n"
	    "  --force                 use enabled counters of others; give them back\n"
	    "  --dry-run               print every register access; make none\n"
	    "  --trace-registers FILE  write every register access to FILE, a line each\n"
	    "  --replay FILE           answer accesses from such a FILE; run no program\n"
	    "  --root DIR              read /dev/cpu, /sys and /proc under DIR\n",
	    file);
}
