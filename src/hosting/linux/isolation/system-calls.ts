import { assemble, type BpfStep } from '../../../lib/bpf.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import {
  AF_INET,
  AF_INET6,
  AF_NETLINK,
  AF_UNIX,
  ALLOW,
  ARCHITECTURE,
  argument,
  machineOf,
  NUMBER,
} from './machine-calls.ts';
import { type SandboxFile, sandboxFile } from './sandbox-file.ts';

/** SECCOMP_RET_ERRNO with EPERM: the call fails as if the user lacked the right. */
const REFUSE = 0x0005_0001;
/** With ENOSYS: the call fails as on a kernel that does not have it, so libraries use an older one. */
const UNKNOWN = 0x0005_0026;

const NETLINK_ROUTE = 0;
/** Protocols (linux/in.h). */
const ANY_PROTOCOL = 0;
const TCP = 6;
const UDP = 17;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET of clone(2). */
const NEW_NAMESPACES = 0x7e02_0000;
/** Requests of ioctl(2) about network interfaces, from SIOCGIFNAME to SIOCIWLAST (linux/sockios.h, linux/wireless.h). */
const [FIRST_INTERFACE_REQUEST, LAST_INTERFACE_REQUEST] = [0x8910, 0x8bff];

/**
 * The seccomp filter of everything that runs as a tenant: a list of allowed calls, without what the kernel has beyond what PHP, WordPress
 * and the tools of shells need. clone3(2) is not on it, because a filter cannot see its flags.
 *
 * bind(2) and listen(2) fail, so a tenant cannot take a port of the platform while its daemon restarts; PHP-FPM inherits its socket. A
 * filter cannot see the address that bind(2) points to, so Unix sockets cannot be bound either. Sockets are limited to Unix, TCP, UDP and
 * netlink for routes, because SCTP can bind by setsockopt(2). Sockets for the Internet are the machine's, so ioctl(2) on them would tell its
 * interfaces and addresses. io_uring would bypass the filter, and can bind and listen since kernel 6.11.
 * The sandbox does not separate the kernel's keyrings. 32-bit calls have other numbers, so all of them fail.
 */
export function tenantFilter(architecture: NodeJS.Architecture): Buffer {
  const { architecture: audited, numbers, refused, allowed, otherTable } = machineOf(architecture);
  const steps: BpfStep[] = [
    { load: ARCHITECTURE },
    { ifEqual: audited, goto: 'native' },
    { return: REFUSE },

    { label: 'native' },
    { load: NUMBER },
    ...(otherTable === null ? [] : [{ ifAtLeast: otherTable, goto: 'refuse' }]),
    { ifEqual: numbers.socket, goto: 'socket' },
    { ifEqual: numbers.socketpair, goto: 'socket' },
    { ifEqual: numbers.clone, goto: 'clone' },
    { ifEqual: numbers.ioctl, goto: 'ioctl' },
    ...refused.map((number) => ({ ifEqual: number, goto: 'refuse' })),
    ...oneOf(allowed),

    { label: 'socket' },
    { load: argument(0) },
    { ifEqual: AF_UNIX, goto: 'allow' },
    ...[AF_INET, AF_INET6].map((family) => ({ ifEqual: family, goto: 'internet' })),
    { ifEqual: AF_NETLINK, goto: 'netlink' },
    { goto: 'refuse' },

    { label: 'internet' },
    { load: argument(2) },
    ...[ANY_PROTOCOL, TCP, UDP].map((protocol) => ({ ifEqual: protocol, goto: 'allow' })),
    { goto: 'refuse' },

    { label: 'netlink' },
    { load: argument(2) },
    { ifEqual: NETLINK_ROUTE, goto: 'allow' },
    { goto: 'refuse' },

    { label: 'clone' },
    { load: argument(0) },
    { ifAnyBit: NEW_NAMESPACES, goto: 'refuse' },
    { goto: 'allow' },

    { label: 'ioctl' },
    { load: argument(1) },
    { ifAtLeast: LAST_INTERFACE_REQUEST + 1, goto: 'allow' },
    { ifAtLeast: FIRST_INTERFACE_REQUEST, goto: 'refuse' },
    { goto: 'allow' },

    { label: 'refuse' },
    { return: REFUSE },
    { label: 'unknown' },
    { return: UNKNOWN },
    { label: 'allow' },
    { return: ALLOW },
  ];
  return assemble(steps);
}

/** Allows these numbers and no others: one step for each number at which an answer begins. The kernel remembers the answers. */
function oneOf(numbers: readonly number[]): BpfStep[] {
  const known = new Set(numbers);
  const starts = [...new Set(numbers.flatMap((number) => [number, number + 1]))]
    .filter((number) => known.has(number) !== known.has(number - 1))
    .sort((one, other) => other - one);
  return [
    ...starts.map((number) => ({ ifAtLeast: number, goto: known.has(number) ? 'allow' : 'unknown' })),
    { goto: 'unknown' },
  ];
}

/** This machine's filter and its file for sandboxes. */
export function tenantFilterFile(layout: LinuxLayout): SandboxFile {
  return sandboxFile(layout, 'system-calls', 'bpf', tenantFilter(process.arch));
}
