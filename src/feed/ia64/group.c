#include "feed/ia64/group.h"

#include "feed/ia64/translate.h"

#include <string.h>

/* False if both writes happen whenever the second does. r0, f0 and f1 fault anyway. */
static bool add(uint8_t *writer, unsigned r, unsigned qp)
{
	bool twice = r != 0 && (*writer == 1 || *writer == qp + 1);

	*writer = qp + 1;
	return !twice;
}

bool ia64_group_add(struct ia64_group *g, const struct ia64_insn *n)
{
	struct ia64_writes w = ia64_writes(n);
	bool good = true;

	for (unsigned i = 0; i < w.general_count; i++)
		good = add(&g->general[w.general[i]], w.general[i], n->qp) && good;
	for (unsigned i = 0; i < w.floating_count; i++)
		good = add(&g->floating[w.floating[i]], w.floating[i], n->qp) && good;
	if (n->stop)
		memset(g, 0, sizeof(*g));
	return good;
}
