/*
 * What is used of QEMU's plugin interface, which Debian does not package a header for. The
 * functions are in the qemu executable that loads the plugin.
 *
 * PLUGIN_API is the version of the interface to build for, 1 to 4. QEMU loads a plugin whose
 * version lies between the oldest and the newest that it knows: Debian 12 has 1.
 */
#ifndef QEMU_PLUGIN_API_H
#define QEMU_PLUGIN_API_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef PLUGIN_API
#define PLUGIN_API 1
#endif
static_assert(PLUGIN_API >= 1 && PLUGIN_API <= 4, "plugin interface not known");

#define PLUGIN_EXPORT __attribute__((visibility("default")))
#define PLUGIN_IMPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct qemu_info_t {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	int smp_vcpus, max_vcpus; /* system emulation only */
} qemu_info_t;

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
};

/* The filters for loads or stores alone do not work in QEMU 7.2. */
enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_RW = 3,
};

typedef void (*qemu_plugin_simple_cb_t)(qemu_plugin_id_t id);
typedef void (*qemu_plugin_udata_cb_t)(qemu_plugin_id_t id, void *userdata);
typedef void (*qemu_plugin_vcpu_simple_cb_t)(qemu_plugin_id_t id, unsigned vcpu_index);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned vcpu_index, void *userdata);
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned vcpu_index, qemu_plugin_meminfo_t info,
					  uint64_t vaddr, void *userdata);
typedef void (*qemu_plugin_vcpu_syscall_cb_t)(qemu_plugin_id_t id, unsigned vcpu_index, int64_t num,
					      uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
					      uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*qemu_plugin_vcpu_syscall_ret_cb_t)(qemu_plugin_id_t id, unsigned vcpu_index,
						  int64_t num, int64_t ret);

PLUGIN_EXPORT extern int qemu_plugin_version;
PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
				      char **argv);

PLUGIN_IMPORT void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id,
						     qemu_plugin_vcpu_simple_cb_t cb);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id,
						     qemu_plugin_vcpu_simple_cb_t cb);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
							 qemu_plugin_vcpu_tb_trans_cb_t cb);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
							qemu_plugin_vcpu_udata_cb_t cb,
							enum qemu_plugin_cb_flags flags,
							void *userdata);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
							  qemu_plugin_vcpu_udata_cb_t cb,
							  enum qemu_plugin_cb_flags flags,
							  void *userdata);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
						    qemu_plugin_vcpu_mem_cb_t cb,
						    enum qemu_plugin_cb_flags flags,
						    enum qemu_plugin_mem_rw rw, void *userdata);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id,
							qemu_plugin_vcpu_syscall_cb_t cb);
PLUGIN_IMPORT void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
							    qemu_plugin_vcpu_syscall_ret_cb_t cb);
PLUGIN_IMPORT void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_plugin_simple_cb_t cb);
PLUGIN_IMPORT void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb,
						  void *userdata);

PLUGIN_IMPORT size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
PLUGIN_IMPORT struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
							       size_t idx);
PLUGIN_IMPORT size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
PLUGIN_IMPORT uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
PLUGIN_IMPORT void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
PLUGIN_IMPORT unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
PLUGIN_IMPORT bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

#if PLUGIN_API < 3
PLUGIN_IMPORT const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
#else
PLUGIN_IMPORT size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest,
					   size_t len);
#endif

/* Copies at most @length bytes of an instruction, whatever the version. */
static inline void plugin_insn_bytes(const struct qemu_plugin_insn *insn, uint8_t *bytes,
				     size_t length)
{
#if PLUGIN_API < 3
	memcpy(bytes, qemu_plugin_insn_data(insn), length);
#else
	qemu_plugin_insn_data(insn, bytes, length);
#endif
}

#endif
