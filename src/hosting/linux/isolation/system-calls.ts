import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { assemble, type BpfStep } from './bpf.ts';

/** Offsets in `struct seccomp_data` (linux/seccomp.h); of each argument the lower half, which is all that these calls read. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;

const ALLOW = 0x7fff_0000;
/** SECCOMP_RET_ERRNO with EPERM: the call fails as if the user lacked the right. */
const REFUSE = 0x0005_0001;

/** Numbers of system calls (asm/unistd.h) and the architecture that they hold for (linux/audit.h). */
interface Machine {
  architecture: number;
  socket: number;
  socketpair: number;
  refused: Record<string, number>;
  /** Calls from this number on belong to another table: on x86-64 the x32 one. */
  otherTable: number | null;
}

/** io_uring binds and listens on kernels since 6.11, and has the numbers of the generic table everywhere. */
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
 * The seccomp filter of everything that runs as a tenant. Nothing of a tenant is a server: bind(2) and listen(2) fail, so a
 * tenant cannot take a port of the platform while its daemon restarts. PHP-FPM inherits its socket. A filter
 * cannot see the address that bind(2) points to, hence Unix sockets cannot be bound either. Sockets are Unix, TCP and UDP,
 * and netlink for routes, as SCTP binds by setsockopt(2). io_uring would go past the filter; the kernel's keyrings are not
 * separated by the sandbox. 32-bit calls, which have other numbers, all fail.
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
    { give: REFUSE },
    { label: 'allow' },
    { give: ALLOW },
  ];
  return assemble(steps);
}

/** The filter of this machine, and where sandboxes read it: named by its content, so that daemons restart with another one. */
export function tenantFilterFile(layout: LinuxLayout): { path: string; content: Buffer } {
  const content = tenantFilter(process.arch);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { path: join(layout.runFolder, `system-calls-${hash}.bpf`), content };
}
