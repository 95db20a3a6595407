import { assemble, type BpfStep } from '../../../lib/bpf.ts';

/** Offsets in `struct seccomp_data` (linux/seccomp.h). */
const NUMBER = 0;
const ARCHITECTURE = 4;

const ALLOW = 0x7fff_0000;
/** SECCOMP_RET_ERRNO with EPERM: the call fails as if the user lacked the right. */
const REFUSE = 0x0005_0001;

interface Machine {
  architecture: number;
  refused: readonly number[];
  /** Numbers from here on belong to another table: on x86-64 the x32 one. */
  otherTable: number | null;
}

/** io_uring, pidfd_getfd, the calls that mount, and landlock's neighbours have one number on all architectures. */
const COMMON = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442];

/**
 * Numbers (asm/unistd.h) of link, symlink and mknod, which would lead the platform elsewhere; of mount, pivot_root, unshare and setns; of keys,
 * bpf, perf_event_open, userfaultfd, ptrace and process_vm_*; and of what needs rights anyway.
 */
const MACHINES: Partial<Record<NodeJS.Architecture, Machine>> = {
  x64: {
    architecture: 0xc000_003e,
    refused: [
      ...[86, 88, 133, 259, 265, 266, 165, 166, 155, 161, 272, 308],
      ...[248, 249, 250, 321, 298, 323, 101, 310, 311],
      ...[169, 175, 176, 246, 313, 320, 134, 139, 153, 163, 167, 168, 103, 304],
      ...COMMON,
    ],
    otherTable: 0x4000_0000,
  },
  arm64: {
    architecture: 0xc000_00b7,
    refused: [
      ...[33, 36, 37, 40, 39, 41, 51, 97, 268],
      ...[217, 218, 219, 280, 241, 282, 117, 270, 271],
      ...[142, 105, 106, 104, 273, 294, 58, 89, 224, 225, 116, 265],
      ...COMMON,
    ],
    otherTable: null,
  },
};

/** The filter of all programs in a sandbox; null for a processor without one. PHP needs none of the refused calls. */
export function systemCallFilter(architecture: NodeJS.Architecture): Buffer | null {
  const machine = MACHINES[architecture];
  if (machine === undefined) return null;
  const steps: BpfStep[] = [
    { load: ARCHITECTURE },
    { ifEqual: machine.architecture, goto: 'native' },
    { goto: 'refuse' },
    { label: 'native' },
    { load: NUMBER },
    ...(machine.otherTable === null ? [] : [{ ifAtLeast: machine.otherTable, goto: 'refuse' }]),
    ...[...new Set(machine.refused)].map((number) => ({ ifEqual: number, goto: 'refuse' })),
    { goto: 'allow' },
    { label: 'refuse' },
    { return: REFUSE },
    { label: 'allow' },
    { return: ALLOW },
  ];
  return assemble(steps);
}
