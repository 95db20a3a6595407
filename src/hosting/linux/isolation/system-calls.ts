import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { assemble, type BpfStep } from '../../../lib/bpf.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** Offsets in `struct seccomp_data` (linux/seccomp.h). For arguments: the lower half, which is all that these calls read. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;

const ALLOW = 0x7fff_0000;
/** SECCOMP_RET_ERRNO with EPERM: the call fails as if the user lacked the right. */
const REFUSE = 0x0005_0001;

/** System call numbers (asm/unistd.h) of an architecture (linux/audit.h). */
interface Machine {
  architecture: number;
  socket: number;
  socketpair: number;
  refused: Record<string, number>;
  /** Numbers from here on belong to another table: on x86-64 the x32 one. */
  otherTable: number | null;
}

/** io_uring can bind and listen since kernel 6.11. Its numbers are the same on all architectures. */
const IO_URING = { io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427 };

const MACHINES: Partial<Record<NodeJS.Architecture, Machine>> = {
  x64: {
    architecture: 0xc000_003e,
    socket: 41,
    socketpair: 53,
    refused: { bind: 49, listen: 50, add_key: 248, request_key: 249, keyctl: 250, ...IO_URING },
    otherTable: 0x4000_0000,
  },
  arm64: {
    architecture: 0xc000_00b7,
    socket: 198,
    socketpair: 199,
    refused: { bind: 200, listen: 201, add_key: 217, request_key: 218, keyctl: 219, ...IO_URING },
    otherTable: null,
  },
};

/** Address families and protocols (linux/socket.h, linux/in.h). */
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const ANY_PROTOCOL = 0;
const TCP = 6;
const UDP = 17;

/**
 * The seccomp filter of everything that runs as a tenant. bind(2) and listen(2) fail, so a tenant cannot take a port of the
 * platform while its daemon restarts; PHP-FPM inherits its socket. A filter cannot see the address that bind(2) points to, so
 * Unix sockets cannot be bound either. Sockets are limited to Unix, TCP, UDP and netlink for routes, because SCTP can bind by
 * setsockopt(2). io_uring would bypass the filter. The sandbox does not separate the kernel's keyrings. 32-bit calls have other
 * numbers, so all of them fail.
 */
export function tenantFilter(architecture: NodeJS.Architecture): Buffer {
  const machine = MACHINES[architecture];
  if (machine === undefined) {
    throw new OperatorError(
      `The Linux host runs on x86-64 and arm64 processors; this one is ${architecture}.`,
    );
  }
  const sockets = [machine.socket, machine.socketpair];
  const steps: BpfStep[] = [
    { load: ARCHITECTURE },
    { ifEqual: machine.architecture, goto: 'native' },
    { goto: 'refuse' },

    { label: 'native' },
    { load: NUMBER },
    ...(machine.otherTable === null ? [] : [{ ifAtLeast: machine.otherTable, goto: 'refuse' }]),
    ...Object.values(machine.refused).map((number) => ({ ifEqual: number, goto: 'refuse' })),
    ...sockets.map((number) => ({ ifEqual: number, goto: 'socket' })),
    { goto: 'allow' },

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

    { label: 'refuse' },
    { return: REFUSE },
    { label: 'allow' },
    { return: ALLOW },
  ];
  return assemble(steps);
}

/** This machine's filter and its file for sandboxes. The name contains a hash, so that daemons restart when the filter changes. */
export function tenantFilterFile(layout: LinuxLayout): { path: string; content: Buffer } {
  const content = tenantFilter(process.arch);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { path: join(layout.runFolder, `system-calls-${hash}.bpf`), content };
}
