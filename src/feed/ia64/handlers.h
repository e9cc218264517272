/*
 * All operations, each as four handlers: plain, predicated, the same with NaT bits. What o->imm,
 * o->c and the spare registers mean to one stands at its body.
 */
#ifndef FEED_IA64_HANDLERS_H
#define FEED_IA64_HANDLERS_H

#include "feed/ia64/cpu.h"

/* o->c of parallel compares. */
enum ia64_relation {
	IA64_REL_EQ,
	IA64_REL_NE,
	IA64_REL_GT,
	IA64_REL_LE,
	IA64_REL_GE,
	IA64_REL_LT,
	IA64_REL_4 = 8,
};

/* o->c of loads and stores: what becomes of r3, then the size, then the type. */
enum ia64_increment {
	IA64_INC_NONE,
	IA64_INC_REG,
	IA64_INC_IMM,
	IA64_INC_MASK = 3,
};
#define IA64_LD_SIZE 2 /* log2, of general registers */
#define IA64_LD_TYPE 4
enum ia64_load {
	IA64_LD_PLAIN,
	IA64_LD_S,
	IA64_LD_A,
	IA64_LD_SA,
	IA64_LD_C_CLR,
	IA64_LD_C_NC,
};

/* In the order of the encoding. */
enum ia64_fsize {
	IA64_FSIZE_E,
	IA64_FSIZE_8,
	IA64_FSIZE_S,
	IA64_FSIZE_D,
	IA64_FSIZE_FILL,
};

/* Lists, which the formatter would indent further each time. */
/* clang-format off */
#define IA64_OPS_CMP(X, name) X(name) X(name##_unc) X(name##_i) X(name##_i_unc)
#define IA64_OPS_PARALLEL(X, kind) \
	X(cmp_##kind) X(cmp_##kind##_i) X(tbit_##kind) X(tnat_##kind) X(tf_##kind)
#define IA64_OPS_12(X, name)  X(p##name##1) X(p##name##2)
#define IA64_OPS_124(X, name) IA64_OPS_12(X, name) X(p##name##4)
#define IA64_OPS_MIX(X, w)    X(mix##w##r) X(mix##w##l) X(unpack##w##l) X(unpack##w##h)
#define IA64_OPS_SHIFT(X, w) \
	X(pshl##w) X(pshr##w) X(pshr##w##u) X(pshl##w##i) X(pshr##w##i) X(pshr##w##ui)
#define IA64_OPS_LD(X, size) X(ld##size) X(ld##size##_r) X(ld##size##_i)
#define IA64_OPS_ST(X, size) X(st##size) X(st##size##_i)

#define IA64_OPS_INTEGER(X) \
	X(add) \
	X(add1) \
	X(sub) \
	X(sub1) \
	X(addp4) X(and) X(andcm) X(or) X(xor) X(shladd) X(shladdp4) X(addi) X(mov) X(subi) \
	X(addp4i) X(andi) X(andcmi) X(ori) X(xori) X(shl) X(shr) X(shr_u) X(shrp) X(extr) \
	X(extr_u) X(dep_z) X(dep) X(dep_ones) X(dep_zeros) X(zxt1) X(zxt2) X(zxt4) X(sxt1) \
	X(sxt2) X(sxt4) X(popcnt) X(czx1l) X(czx1r) X(czx2l) X(czx2r) X(movl) \
	IA64_OPS_CMP(X, cmp_lt) IA64_OPS_CMP(X, cmp_ltu) IA64_OPS_CMP(X, cmp_eq) \
	IA64_OPS_CMP(X, cmp4_lt) IA64_OPS_CMP(X, cmp4_ltu) \
	IA64_OPS_CMP(X, cmp4_eq) IA64_OPS_PARALLEL(X, and) \
	IA64_OPS_PARALLEL(X, or) IA64_OPS_PARALLEL(X, andcm) X(tbit) \
	X(tnat) X(tf)

#define IA64_OPS_MULTIMEDIA(X) \
	IA64_OPS_124(X, add) \
	IA64_OPS_12(X, add_sss) \
	IA64_OPS_12(X, add_uuu) \
	IA64_OPS_12(X, add_uus) \
	IA64_OPS_124(X, sub) IA64_OPS_12(X, sub_sss) IA64_OPS_12(X, sub_uuu) \
	IA64_OPS_12(X, sub_uus) IA64_OPS_12(X, avg) IA64_OPS_12(X, avg_raz) \
	IA64_OPS_12(X, avgsub) IA64_OPS_124(X, eq) IA64_OPS_124(X, gt) X(pmin_u1) \
	X(pmax_u1) X(pmin2) X(pmax2) X(pshladd2) X(pshradd2) X(pmpyshr2) X(pmpyshr2u) \
	X(pmpy2r) X(pmpy2l) IA64_OPS_MIX(X, 1) IA64_OPS_MIX(X, 2) \
	IA64_OPS_MIX(X, 4) X(pack2_uss) X(pack2_sss) X(pack4_sss) X(psad1) \
	X(mux1) X(mux1_rev) X(mux2) IA64_OPS_SHIFT(X, 2) \
	IA64_OPS_SHIFT(X, 4)

#define IA64_OPS_MEMORY(X) \
	IA64_OPS_LD(X, 1) \
	IA64_OPS_LD(X, 2) \
	IA64_OPS_LD(X, 4) \
	IA64_OPS_LD(X, 8) \
	IA64_OPS_ST(X, 1) IA64_OPS_ST(X, 2) IA64_OPS_ST(X, 4) IA64_OPS_ST(X, 8) X(lds) X(ld8_fill) \
	X(st8_spill) X(ld16) X(st16) X(cmpxchg1) X(cmpxchg2) X(cmpxchg4) X(cmpxchg8) \
	X(cmp8xchg16) X(xchg1) X(xchg2) X(xchg4) X(xchg8) X(fetchadd4) X(fetchadd8) X(mf) \
	X(lfetch) X(invala) X(invala_e) X(invala_ef) X(ldfs) X(ldfd) X(ldf8) X(ldfe) \
	X(ldf_fill) X(stfs) X(stfd) X(stf8) X(stfe) X(stf_spill) X(ldfx) \
	X(setf_sig) X(setf_exp) X(setf_s) X(setf_d) X(getf_sig) X(getf_exp) \
	X(getf_s) X(getf_d)

#define IA64_OPS_CONTROL(X) \
	X(br) \
	X(br_ind) \
	X(continue) \
	X(br_call) \
	X(br_call_ind) X(br_ret) X(br_cloop) X(br_ctop) X(br_cexit) X(br_wtop) X(br_wexit) \
	X(chk_s) X(chk_sf) X(chk_a) X(chk_af) X(fchkf) X(alloc) X(cover) X(clrrrb) \
	X(clrrrb_pr) X(flushrs) X(loadrs) X(break) X(illegal) X(observe) X(note) X(resume) X(aligned)

#define IA64_OPS_SYSTEM(X) \
	X(mov_from_br) \
	X(mov_from_pr) \
	X(mov_from_lc) \
	X(mov_from_pfs) \
	X(mov_from_unat) X(mov_from_um) X(mov_to_br) X(mov_to_pr) X(mov_to_rot) X(mov_to_lc) \
	X(mov_to_pfs) X(mov_from_ar) X(mov_to_ar) X(mov_to_ari) X(sum) X(rum) X(mov_to_um) \
	X(fc) X(srlz_i) X(mov_from_cpuid) X(mov_from_pmd) X(probe) X(probe_fault) X(thash)

#define IA64_OPS_FP(X) \
	X(fma) X(fms) X(fnma) X(fpma) X(fpms) X(fpnma) X(xma_l) X(xma_h) X(xma_hu) X(fselect) \
	X(fcmp) X(fclass) X(frcpa) X(frsqrta) X(fprcpa) X(fprsqrta) X(fmin) X(fmax) X(famin) \
	X(famax) X(fpmin) X(fpmax) X(fpamin) X(fpamax) X(fpcmp) X(fmerge_s) X(fmerge_ns) \
	X(fmerge_se) X(fpmerge_s) X(fpmerge_ns) X(fpmerge_se) X(fmix_l) X(fmix_r) X(fmix_lr) \
	X(fsxt_l) X(fsxt_r) X(fpack) X(fswap) X(fswap_nl) X(fswap_nr) X(fand) X(fandcm) X(for) \
	X(fxor) X(fcvt_fx) X(fcvt_fxu) X(fcvt_fx_trunc) X(fcvt_fxu_trunc) X(fpcvt_fx) \
	X(fpcvt_fxu) X(fpcvt_fx_trunc) X(fpcvt_fxu_trunc) X(fcvt_xf) X(fsetc) X(fclrf)
/* clang-format on */

#define IA64_OP_DECLARE(name) extern ia64_handler *const ia64_op_##name[4];
IA64_OPS_INTEGER(IA64_OP_DECLARE)
IA64_OPS_MULTIMEDIA(IA64_OP_DECLARE)
IA64_OPS_MEMORY(IA64_OP_DECLARE)
IA64_OPS_CONTROL(IA64_OP_DECLARE)
IA64_OPS_SYSTEM(IA64_OP_DECLARE)
IA64_OPS_FP(IA64_OP_DECLARE)
#undef IA64_OP_DECLARE

/** A load that may defer faulted on the host: what is done instead, and the next operation. */
struct ia64_op *ia64_defer(struct ia64_cpu *c, struct ia64_op *o);
struct ia64_op *ia64_defer_fp(struct ia64_cpu *c, struct ia64_op *o);
/** Writes a NaT; from there on, code is run that looks at NaT bits. */
struct ia64_op *ia64_write_nat(struct ia64_cpu *c, struct ia64_op *o, unsigned r, uint64_t value);

#endif
