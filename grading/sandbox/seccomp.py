"""The system calls that a sandbox refuses, as a program for the kernel's filter.

bubblewrap takes away what a process could reach. The filter also takes away system calls that no
problem set needs and that have led out of sandboxes before, or that hold memory where no limit
counts it: new namespaces, mounts, debuggers, key rings, io_uring, BPF, shared memory outside any
file system. The only sockets left are those between processes of the same sandbox, with buffers of
the size that they have; machines that are virtual themselves offer others, which a network
namespace does not cut off.
"""

from __future__ import annotations

import errno
import platform
import struct

# AUDIT_ARCH_… of <linux/audit.h>
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# numbers of <asm/unistd.h> on x86_64 and on aarch64
REFUSED = {
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "quotactl": (179, 60),
    "acct": (163, 89),
    "syslog": (103, 116),
    "personality": (135, 92),
    "fanotify_init": (300, 262),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}
CLONE = (56, 220)
CLONE3 = (435, 435)
SOCKET = (41, 198)
SOCKETPAIR = (53, 199)
PRCTL = (157, 167)
SETSOCKOPT = (54, 208)
# calls that are newer than this file
FIRST_UNKNOWN = 463
# the second table of calls of x86_64, "x32"
X32 = 0x40000000

# CLONE_NEW… of <linux/sched.h>: cgroup, mount, time, user, pid, net, ipc and uts
NAMESPACES = 0x7E020080
AF_UNIX = 1
# the signal by which a sandbox dies with its parent, which no code inside may take back
PR_SET_PDEATHSIG = 1
# what a socket holds counts for no process, so that it stays at what the kernel gives unasked
SO_SNDBUF, SO_RCVBUF = 7, 8

LOAD, IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, THIRD_ARGUMENT = 0, 4, 16, 32
KILL, ALLOW, REFUSE = 0x80000000, 0x7FFF0000, 0x00050000


def supported() -> bool:
    """Return whether the numbers of this machine's system calls are known here."""
    return platform.machine() in ARCHITECTURES


def seccomp_filter() -> bytes:
    """Return the filter for this machine, in the form that ``bwrap --seccomp`` reads.

    These are instructions of the classic Berkeley packet filter. Raises ValueError if the machine's
    processor is neither x86_64 nor aarch64.
    """
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        raise ValueError(f"there is no filter of system calls for a machine of kind {machine!r}")
    which = list(ARCHITECTURES).index(machine)
    refused, absent = REFUSE | errno.EPERM, REFUSE | errno.ENOSYS
    program = [
        (LOAD, 0, 0, ARCHITECTURE),
        (IF_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (IF_AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, KILL),
        (IF_AT_LEAST, 0, 1, FIRST_UNKNOWN),
        (RETURN, 0, 0, absent),
        # its flags are in memory, where no filter looks; the C library falls back to clone
        (IF_EQUAL, 0, 1, CLONE3[which]),
        (RETURN, 0, 0, absent),
        (IF_EQUAL, 0, 4, CLONE[which]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (IF_ANY_BIT, 0, 1, NAMESPACES),
        (RETURN, 0, 0, refused),
        (RETURN, 0, 0, ALLOW),
    ]
    for numbers in (SOCKET, SOCKETPAIR):
        program += [
            (IF_EQUAL, 0, 4, numbers[which]),
            (LOAD, 0, 0, FIRST_ARGUMENT),
            (IF_EQUAL, 1, 0, AF_UNIX),
            (RETURN, 0, 0, refused),
            (RETURN, 0, 0, ALLOW),
        ]
    program += [
        (IF_EQUAL, 0, 4, PRCTL[which]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (IF_EQUAL, 0, 1, PR_SET_PDEATHSIG),
        (RETURN, 0, 0, refused),
        (RETURN, 0, 0, ALLOW),
    ]
    program += [
        (IF_EQUAL, 0, 5, SETSOCKOPT[which]),
        (LOAD, 0, 0, THIRD_ARGUMENT),
        (IF_EQUAL, 1, 0, SO_SNDBUF),
        (IF_EQUAL, 0, 1, SO_RCVBUF),
        (RETURN, 0, 0, refused),
        (RETURN, 0, 0, ALLOW),
    ]
    for numbers in REFUSED.values():
        program += [(IF_EQUAL, 0, 1, numbers[which]), (RETURN, 0, 0, refused)]
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
