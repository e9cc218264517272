/* The address of an instruction that Valgrind's form of the code does not have any more. */
#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "libvex_guest_amd64.h"

#include "address.h"

static IRExpr *keep(IRSB *out, IRExpr *value)
{
	const IRTemp temp = newIRTemp(out->tyenv, typeOfIRExpr(out->tyenv, value));

	addStmtToIRSB(out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

static IRExpr *constant(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *add(IRSB *out, IRExpr *a, IRExpr *b)
{
	return a ? keep(out, IRExpr_Binop(Iop_Add64, a, b)) : b;
}

static IRExpr *get(IRSB *out, Int offset)
{
	return keep(out, IRExpr_Get(offset, Ity_I64));
}

static IRExpr *general(IRSB *out, unsigned number)
{
	return get(out, (Int)(offsetof(VexGuestAMD64State, guest_RAX) + number * sizeof(ULong)));
}

static IRExpr *scaled(IRSB *out, IRExpr *value, unsigned scale)
{
	const unsigned shift = (unsigned)__builtin_ctz(scale);

	if (!shift)
		return value;
	return keep(out, IRExpr_Binop(Iop_Shl64, value, IRExpr_Const(IRConst_U8((UChar)shift))));
}

static IRExpr *cut(IRSB *out, IRExpr *value)
{
	return keep(out, IRExpr_Unop(Iop_32Uto64, keep(out, IRExpr_Unop(Iop_64to32, value))));
}

static IRExpr *segment(IRSB *out, char name)
{
	return get(out, name == 'f' ? offsetof(VexGuestAMD64State, guest_FS_CONST)
				    : offsetof(VexGuestAMD64State, guest_GS_CONST));
}

IRExpr *address_compute(IRSB *out, const struct feed_address *address, Addr next)
{
	IRExpr *sum = constant((ULong)address->displacement +
			       (address->base == FEED_REGISTER_RIP ? next : 0));

	if (address->base < 16)
		sum = add(out, general(out, address->base), sum);
	if (address->index < 16)
		sum = add(out, scaled(out, general(out, address->index), address->scale), sum);
	if (address->is_short)
		sum = cut(out, sum);
	if (address->segment)
		sum = add(out, segment(out, address->segment), sum);
	return sum;
}
