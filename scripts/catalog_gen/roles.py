"""What a field is for. C code asks for these roles; only this file knows how manuals spell them.

A field has the role that its data gives with "role", or else the one its spelling has in a register
of that role. A number behind a spelling, {i} here, is the counter that the field is for.
"""
import re

# Role of a register -> spelling of a field -> role of the field.
CONTROL = {
    "en": "enable", "ev_sel": "event_select", "ev_sel_ext": "event_select_ext",
    "umask": "unit_mask", "occ_sel": "occupancy_select",
    "thresh": "threshold", "cmask": "threshold", "threshold": "threshold",
    "invert": "invert", "inv": "invert", "edge_det": "edge", "edge": "edge",
    "occ_invert": "occupancy_invert", "occ_edge_det": "occupancy_edge",
    "tid_en": "thread_enable", "any": "any_thread", "rst": "reset_counter",
    "occ_ctr_rst": "reset_occupancy",
    "ov_en": "overflow_enable", "int": "overflow_enable", "pmi": "overflow_enable",
    "oi": "overflow_enable", "usr": "user", "os": "kernel", "plm": "privilege_levels",
    "MESI": "states", "ism": "instruction_sets", "pc": "pin_control", "pm": "privileged_monitor",
}
FIXED_CONTROL = {f"{name}{'{i}' if numbered else ''}": CONTROL[name]
                 for name in ("en", "ov_en", "int", "pmi", "usr", "os", "any", "rst", "invert")
                 for numbered in (False, True)}
OVERFLOWS = {"ov": "overflow", "ovf_pmc{i}": "overflow", "ovf_pc{i}": "overflow",
             "cnt{i}_ov": "overflow", "ovf_fixed{i}": "fixed_overflow", "ovf_fc{i}": "fixed_overflow"}
SPELLINGS = {
    "counter_ctl": CONTROL,
    "fixed_ctl": FIXED_CONTROL,
    "select": {"cnt{i}_sel": "event_select"},
    "counter": {"event_count": "count", "count": "count", "cnt": "count", "ov": "overflow"},
    "counter_alias": {"event_count": "count"},
    "fixed_counter": {"event_count": "count"},
    "free_counter": {"event_count": "count"},
    "box_ctl": {"frz": "freeze", "unfrz": "unfreeze", "frz_en": "freeze_enable",
                "rst_ctrl": "reset_controls", "rst_ctrs": "reset_counters"},
    "box_status": {**OVERFLOWS, "frz": "freeze", "unfrz": "unfreeze"},
    "global_ctl": {"frz_all": "freeze", "unfrz_all": "unfreeze", "frz_en": "freeze_enable",
                   "pmi_frz": "freeze_enable", "pmi_core_sel": "interrupt_cores",
                   "en_pmi_core{i}": "interrupt_cores",
                   "en_pmc{i}": "enable", "en_pc{i}": "enable",
                   "en_fixed{i}": "fixed_enable", "en_fc{i}": "fixed_enable"},
    "global_status": {**OVERFLOWS, "ovf_pmi": "interrupted", "chg": "changed"},
    "global_clear": {f"clr_{name}": role for name, role in OVERFLOWS.items()},
    "sampling": {"freeze_perfmon_on_pmi": "freeze_enable", "freeze_lbrs_on_pmi": "branch_freeze",
                 "lbr": "branch_enable", "tos": "branch_last", "mispred": "branch_mispredicted"},
    "prefetch_ctl": {"l2_prefetcher_disable": "streamer_disable",
                     "l2_adjacent_prefetcher_disable": "adjacent_disable",
                     "dcu_prefetcher_disable": "next_line_disable",
                     "dcu_ip_prefetcher_disable": "stride_disable"},
    "filter": {"opc": "opcode", "nid": "nodes", "state": "states", "tid": "thread",
               "nc": "non_coherent", "isoc": "isochronous",
               "lo_addr": "address_low", "hi_addr": "address_high"},
    "discovery": {"device_id": "device_id", "node_id": "node_id", "package{i}": "package_node"},
}

# What a role means stands at enum pmu_field_role of include/pmulab/catalog.h, in this order.
ROLES = (
    "none", "enable", "fixed_enable", "event_select", "event_select_ext", "unit_mask",
    "occupancy_select", "instance_select", "threshold", "invert", "edge", "occupancy_invert",
    "occupancy_edge", "any_thread", "thread_enable", "user", "kernel", "privilege_levels",
    "privileged_monitor", "instruction_sets", "pin_control", "overflow_enable", "overflow",
    "fixed_overflow", "reset_counter", "reset_occupancy", "reset_controls", "reset_counters",
    "hold_counters", "freeze", "unfreeze", "freeze_enable", "interrupt_cores", "count", "count_low",
    "count_high", "count_low_write", "opcode", "nodes", "states", "thread", "non_coherent",
    "isochronous", "address_low", "address_high", "band", "device_id", "node_id", "package_node", "instances",
    "match_mask", "match_encoding", "match_m", "match_i", "match_f", "match_b", "any_address",
    "invert_address", "any_opcode", "any_range", "fine_range", "data_tag", "data_tag_enable",
    "range_address", "range_mask", "range_levels", "data_range_address", "data_range_mask",
    "capture_mode", "capture_umask", "capture_latency", "capture_overflow", "capture_status",
    "capture_address", "capture_ip", "capture_valid", "capture_bundle", "capture_slot",
    "request_enable", "request_each", "request_thread", "request_classes", "request_opcode",
    "request_any_opcode", "request_threshold", "request_pairs", "request_class", "request_home",
    "request_address_high", "request_from_home",
    "trace_taken", "trace_target", "trace_path", "trace_kind", "trace_no_data",
    "trace_no_targets", "trace_index", "trace_full",
    "trace_source", "trace_mispredicted", "trace_address", "trace_flushed", "trace_second",
    "capture_delay", "ip_cycles", "ip_cycles_high", "ip_address", "ip_low", "ip_flushed", "ip_early",
    "vector", "vector_mask", "overflow_freeze", "overflow_stop", "overflow_wrap", "frozen",
    "accumulator", "class_mask", "live_count", "live_filter", "streamer_disable", "adjacent_disable", "next_line_disable", "stride_disable",
    "filter_after", "watermark", "watermark_or_more",
    "branch_enable", "branch_freeze", "branch_left_out", "branch_last", "branch_from", "branch_to",
    "branch_sign", "branch_mispredicted", "interrupted", "changed",
)
SELECTORS = {"ev_sel": "event_select", "ev_sel_ext": "event_select_ext", "umask": "unit_mask",
             "occ_sel": "occupancy_select"}
# Registers whose fields say which instance of a box overflowed.
STATUS_ROLES = ("global_status", "global_ctl")
NUMBER = re.compile(r"[0-9]+")


def spelled(register_role, name):
    """(role, counter) of a field that says nothing itself."""
    spellings = SPELLINGS.get(register_role, {})
    if name in spellings:
        return spellings[name], 0
    numbers = list(NUMBER.finditer(name))
    for found in numbers:
        numbered = f"{name[:found.start()]}{{i}}{name[found.end():]}"
        if numbered in spellings:
            return spellings[numbered], int(found[0])
    return "none", 0


def give_roles(box):
    """Gives each field its "role" and the "counter" that it is for."""
    for register in box["registers"]:
        for field in register["fields"]:
            role, counter = spelled(register["role"], field["name"])
            field["counter"] = field.get("counter", counter)
            field["role"] = field.get("role", role)
            if field["role"] == "enable" and register["role"] in ("counter_ctl", "fixed_ctl"):
                field.setdefault("enabled", 1)


def give_instances(boxes):
    """A discovery field that is called as a box says which instances of it there are."""
    numbers = {box["box"].lower(): n for n, box in enumerate(boxes)}
    for box in boxes:
        for register in box["registers"]:
            for field in register["fields"] if register["role"] == "discovery" else []:
                if field["name"].lower() in numbers:
                    field["role"] = "instances"
                    field["counter"] = numbers[field["name"].lower()]


def roles_in(register):
    """{(role, counter): field} of those that have one."""
    return {(f["role"], f["counter"]): f for f in register["fields"] if f["role"] != "none"}


def check_once(findings, place, register):
    seen = set()
    for field in register["fields"]:
        role = field["role"], field["counter"]
        if field["role"] not in ROLES:
            findings.add(f"{place}.{field['name']}", f"unknown role \"{field['role']}\"")
        elif field["role"] not in ("none", "branch_left_out") and role in seen:
            findings.add(place, f"two fields are its {' '.join(map(str, role))}")
        seen.add(role)


def counter_fields(box):
    """(role, counter) that a register has with a bit for each counter of the box."""
    fixed = sum(r["role"] == "fixed_counter" for r in box["registers"])
    return [("", n) for n in range(box["counters"])], [("fixed_", n) for n in range(fixed)]


def missing_of_each(box, register, role):
    """The counters for which a register that has the role for one has no field of it."""
    has = roles_in(register)
    return [(kind + role, n) for kinds in counter_fields(box) for kind, n in kinds
            if (kind + role, n) not in has]


def needed(box, register):
    """What a register lacks of the roles that make it what it is: a list of words."""
    has = {role for role, _ in roles_in(register)}
    role = register["role"]
    enables = any(f.get("enabled") for f in register["fields"])
    if role == "counter_ctl":
        return ([] if "event_select" in has else ["event_select"]) + \
            ([] if "enable" in has or enables else ["enable"])
    if role == "fixed_ctl":
        return [] if has & {"enable", "user", "kernel"} else ["enable"]
    if role == "box_ctl":
        return [] if "freeze" in has else ["freeze"]
    if role == "box_status":
        return [] if "overflow" in has else ["overflow"]
    if role == "global_ctl" and not {"freeze", "unfreeze"} <= has:
        return [f"{name} {n}" for name, n in missing_of_each(box, register, "enable")] \
            if has & {"enable", "fixed_enable"} else ["freeze and unfreeze, or enable"]
    if role in ("global_status", "global_clear") and has & {"overflow", "fixed_overflow"} and \
            not whole_field(register):
        return [f"{name} {n}" for name, n in missing_of_each(box, register, "overflow")]
    return []


def whole_field(register):
    """Whether one field has the overflows of all counters."""
    return any(f["role"] == "overflow" and f["hi"] > f["lo"] for f in register["fields"])


def check_roles(findings, box):
    for register in box["registers"]:
        place = f"{box['box']}.{register['name']}"
        check_once(findings, place, register)
        for lacking in needed(box, register):
            findings.add(place, f"a {register['role']} without a field of role {lacking}")
