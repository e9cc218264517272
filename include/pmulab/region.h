/*
 * Regions of a program, for pmulab stat --by region. Header only: nothing is linked. Where nobody
 * measures, a region costs two instructions that do nothing.
 *
 *     PMU_REGION_BEGIN("solve");
 *     ...
 *     PMU_REGION_END("solve");
 *
 * A name is a literal of up to 100 characters without quotes, backslashes and percent signs.
 * Regions are a thread's own, and may lie in each other, up to eight deep: what happens counts for
 * the innermost that has begun and not ended. PMU_REGION_BEGIN_NAMED() and PMU_REGION_END_NAMED()
 * take a pointer to a text; they read its first byte.
 *
 * They work in C and C++ for x86-64, compiled by gcc or clang; elsewhere they do nothing.
 */
#ifndef PMULAB_REGION_H
#define PMULAB_REGION_H

#if defined(__x86_64__) && defined(__GNUC__)

/* An instruction that does nothing, whose operand is a text that says what it stands for. */
#define PMU_REGION_MARK(text)                                                                      \
	"nopl 771f(%%rip)\n"                                                                       \
	".pushsection .rodata.pmulab,\"a\",@progbits\n"                                            \
	"771: .asciz \"pmulab region " text "\"\n"                                                 \
	".popsection\n"

/* Memory is clobbered: what stands before the mark is done before it. */
#define PMU_REGION_BEGIN(name) __asm__ volatile(PMU_REGION_MARK("+" name) : : : "memory")
#define PMU_REGION_END(name)   __asm__ volatile(PMU_REGION_MARK("-" name) : : : "memory")

static inline void pmulab_region_begin(const char *name)
{
	char first;

	__asm__ volatile(PMU_REGION_MARK(">") "movb (%1), %0" : "=q"(first) : "r"(name) : "memory");
}

static inline void pmulab_region_end(const char *name)
{
	char first;

	__asm__ volatile(PMU_REGION_MARK("<") "movb (%1), %0" : "=q"(first) : "r"(name) : "memory");
}

#else

#define PMU_REGION_BEGIN(name) ((void)0)
#define PMU_REGION_END(name)   ((void)0)

static inline void pmulab_region_begin(const char *name)
{
	(void)name;
}

static inline void pmulab_region_end(const char *name)
{
	(void)name;
}

#endif

#define PMU_REGION_BEGIN_NAMED(name) pmulab_region_begin(name)
#define PMU_REGION_END_NAMED(name)   pmulab_region_end(name)

#endif
