/* Two sockets' PMUs, for tests: registers by the manual's addresses, signals by hand. */
#ifndef TESTS_PMON_FIXTURE_H
#define TESTS_PMON_FIXTURE_H

#include "pmon/pmon.h"
#include "support/cmocka.h"

#define UNUSED __attribute__((unused))

/* A register, for pmon_read() and pmon_write(). */
#define AT(socket_, space_, address_, width_)                                                      \
	(&(struct pmon_access){                                                                    \
	    .socket = (socket_), .space = (space_), .address = (address_), .width = (width_)})

struct fixture {
	struct pmu_ctx *ctx;
	struct pmon *pmon;
	void *state;
	size_t size;
	struct signal_port port;
	struct pmon_time now; /* of the next register access */
};

/* CBos 0 to 3 and 8 to 11; every other box is there. */
#define FIXTURE_CAPID4	   0x40
#define FIXTURE_CAPID5	   0xF0F
#define FIXTURE_UCLK_MHZ   2800
#define FIXTURE_DCLK_MHZ   1200
#define FIXTURE_PCLK_MHZ   800
#define FIXTURE_QFCLK_MHZ  1000
#define FIXTURE_CBO_ABSENT 4

void fixture_up(struct fixture *fixture);
void fixture_up_for(struct fixture *fixture, const struct pmu_pmu *pmu);
/* With one socket, and one unit of each box. */
void fixture_up_single(struct fixture *fixture, const struct pmu_pmu *pmu);
void fixture_down(struct fixture *fixture);

/* Register accesses to socket 0, or to the one named; they must succeed. */
uint64_t fixture_msr(struct fixture *fixture, uint32_t address);
void fixture_set_msr(struct fixture *fixture, uint32_t address, uint64_t value);
uint64_t fixture_msr_of(struct fixture *fixture, unsigned socket, uint32_t address);
void fixture_set_msr_of(struct fixture *fixture, unsigned socket, uint32_t address, uint64_t value);
/* 32 bits, but counters (offsets A0 to BC and D0 of boxes that have them) as 64 bits. */
uint64_t fixture_pci(struct fixture *fixture, uint32_t address);
void fixture_set_pci(struct fixture *fixture, uint32_t address, uint64_t value);

/* Both clocks at once: the given uncore cycle, and the DRAM cycle that is running then. */
void fixture_at(struct fixture *fixture, uint64_t uncore_cycle);
void fixture_at_dram(struct fixture *fixture, uint64_t dram_cycle);

void fixture_pulse(struct fixture *fixture, uint16_t id, unsigned instance, uint32_t qualifiers,
		   uint64_t time);
void fixture_span(struct fixture *fixture, uint16_t id, unsigned instance, uint32_t qualifiers,
		  uint64_t time, uint64_t duration);

/* Addresses of 334291-001 tables 1-2, 1-3, 2-1, 2-5, 2-13, 2-61, 2-112. */
#define PCI(device, function, offset) ((uint32_t)((device) << 15 | (function) << 12 | (offset)))
#define GLOBAL_CTL		      0x700
#define GLOBAL_STATUS		      0x701
#define GLOBAL_CONFIG		      0x702
#define UCLK_CTL		      0x703
#define UCLK_CTR		      0x704
#define U_CTL(k)		      (0x705u + (k))
#define U_STATUS		      0x708
#define U_CTR(k)		      (0x709u + (k))
#define C_BOX_CTL(n)		      (0xE00u + 0x10 * (n))
#define C_CTL(n, k)		      (0xE01u + 0x10 * (n) + (k))
#define C_FILTER0(n)		      (0xE05u + 0x10 * (n))
#define C_FILTER1(n)		      (0xE06u + 0x10 * (n))
#define C_STATUS(n)		      (0xE07u + 0x10 * (n))
#define C_CTR(n, k)		      (0xE08u + 0x10 * (n) + (k))
#define HA(n, offset)		      PCI(18, (n) ? 5 : 1, offset)
/* Channel y of MC0; MC1's are at devices 23 and 24. */
#define MC(y, offset) PCI(20 + (y) / 2, (y) % 2, offset)
#define PCI_CTR(k)    (0xA0u + 8 * (k))
#define PCI_CTL(k)    (0xD8u + 4 * (k))
#define PCI_FIXED_CTR 0xD0
#define PCI_FIXED_CTL 0xF0
#define PCI_BOX_CTL   0xF4
#define PCI_STATUS    0xF8
#define HA_ADDRMATCH0 0x40
#define HA_ADDRMATCH1 0x44
#define HA_OPCMATCH   0x48

/* Bits of tables 2-2, 2-14, 2-16, 2-64, 2-116. */
#define FRZ_ALL		   (1u << 31)
#define UNFRZ_ALL	   (1u << 29)
#define BOX_GO		   0x30000
#define BOX_FRZ		   0x30100
#define BOX_RST_CTRL	   0x30101 /* frozen all the while */
#define BOX_RST_CTRS	   0x30102
#define EN		   (1u << 22)
#define OV_EN		   (1u << 20)
#define TID_EN		   (1u << 19)
#define EDGE		   (1u << 18)
#define RST		   (1u << 17)
#define FIXED_RST	   (1u << 19)
#define INVERT		   (1u << 23)
#define THRESH(n)	   ((uint32_t)(n) << 24)
#define EVENT(code, umask) ((uint32_t)((umask) << 8 | (code)))

#define COUNTER_LIMIT (1ull << 48)

#endif
