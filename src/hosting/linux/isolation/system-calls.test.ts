import { describe, expect, it, test } from 'vitest';
import { OperatorError } from '../../../lib/operator-error.ts';
import { linuxLayout } from '../machine/layout.ts';
import { verdict } from './filter-verdict.fixture.ts';
import { askingFilter } from './own-network.ts';
import { tenantFilter, tenantFilterFile } from './system-calls.ts';

const X86_64 = 0xc000_003e;
const I386 = 0x4000_0003;
const ARM64 = 0xc000_00b7;
const ARM = 0x4000_0028;

/** Numbers as in the compilers' headers (asm/unistd.h). */
const MACHINES = [
  {
    name: 'x64' as const,
    architecture: X86_64,
    foreign: I386,
    refused: [49, 50, 248, 249, 250, 425, 426, 427],
    usual: [0, 1, 42, 43, 44, 45, 51, 54, 55, 57, 59, 135, 231, 257, 288, 334, 424, 439],
    // modify_ldt, kexec_load, bpf, userfaultfd, open_by_handle_at, process_vm_readv, perf_event_open, pidfd_getfd, open_tree, clone3
    unknown: [154, 246, 321, 323, 304, 310, 298, 438, 428, 435, 500, 1000],
    namespaces: { mount: 165, unshare: 272, setns: 308 },
    clone: 56,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
  },
  {
    name: 'arm64' as const,
    architecture: ARM64,
    foreign: ARM,
    refused: [200, 201, 217, 218, 219, 425, 426, 427],
    usual: [56, 57, 63, 64, 92, 93, 94, 202, 203, 204, 206, 207, 208, 221, 293, 424, 439],
    unknown: [104, 280, 282, 265, 270, 241, 438, 428, 435, 500, 1000],
    namespaces: { mount: 40, unshare: 97, setns: 268 },
    clone: 220,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
  },
];

describe.each(MACHINES)('the tenant filter on $name', (machine) => {
  const { name, architecture, foreign } = machine;
  const filter = tenantFilter(name);
  const on = (number: number, ...args: number[]) => verdict(filter, architecture, number, args);

  it('refuses bind, listen, io_uring and keyrings', () => {
    expect(machine.refused.map((number) => on(number))).toEqual(machine.refused.map(() => 'EPERM'));
  });

  it('allows the calls of usual programs', () => {
    expect(machine.usual.map((number) => on(number))).toEqual(machine.usual.map(() => 'allowed'));
  });

  it('knows no other calls', () => {
    expect(machine.unknown.map((number) => on(number))).toEqual(machine.unknown.map(() => 'ENOSYS'));
  });

  it('refuses new namespaces', () => {
    for (const number of Object.values(machine.namespaces)) expect(on(number)).toBe('EPERM');
    const [sigchld, thread, newUser, newNet] = [17, 0x3d0f00, 0x1000_0000, 0x4000_0000];
    for (const flags of [sigchld, thread]) expect(on(machine.clone, flags)).toBe('allowed');
    for (const flags of [newUser, newNet, sigchld + newUser]) expect(on(machine.clone, flags)).toBe('EPERM');
  });

  it('refuses questions about network interfaces', () => {
    // SIOCGIFNAME, SIOCGIFCONF, SIOCGIFADDR, SIOCGIFHWADDR, SIOCETHTOOL, SIOCGSKNS, SIOCGARP, SIOCGIWNAME
    const questions = [0x8910, 0x8912, 0x8915, 0x8927, 0x8946, 0x894c, 0x8954, 0x8b01];
    for (const request of [...questions, 0x1_0000_8912]) expect(on(machine.ioctl, 3, request)).toBe('EPERM');
    // TCGETS, FIONREAD, SIOCATMARK, FICLONE
    for (const request of [0x5401, 0x541b, 0x8905, 0x4004_9409])
      expect(on(machine.ioctl, 3, request)).toBe('allowed');
  });

  it('refuses every call of another architecture', () => {
    for (const number of [0, 1, 4, 49, 102, 361, 363]) expect(verdict(filter, foreign, number)).toBe('EPERM');
  });

  it('allows sockets only for Unix, TCP, UDP and routes', () => {
    const allowed = [
      [1, 1, 0],
      [1, 2, 0],
      [2, 1, 0],
      [2, 1, 6],
      [2, 0x80002, 17],
      [10, 1, 6],
      [10, 2, 0],
      [16, 3, 0],
    ];
    const sctp = 132;
    const mptcp = 262;
    const refused = [
      [2, 1, sctp],
      [10, 1, mptcp],
      [2, 3, 255],
      [16, 3, 4],
      [17, 3, 0],
      [38, 5, 0],
      [40, 1, 0],
      [0x1_0000 + 1, 1, 0],
    ];
    for (const call of [machine.socket, machine.socketpair]) {
      for (const args of allowed) expect(on(call, ...args), args.join()).toBe('allowed');
      for (const args of refused) expect(on(call, ...args), args.join()).toBe('EPERM');
    }
  });
});

describe.each(MACHINES)(
  'the filter that asks for sockets on $name',
  ({ name, architecture, foreign, ...numbers }) => {
    const on = (number: number, ...args: number[]) => verdict(askingFilter(name), architecture, number, args);

    it('asks for those of the Internet', () => {
      for (const family of [2, 10, 0x1_0000_0000 + 2]) expect(on(numbers.socket, family, 1, 0)).toBe('asked');
    });

    it('leaves everything else to the other filter', () => {
      for (const family of [1, 16, 17, 0]) expect(on(numbers.socket, family, 1, 0)).toBe('allowed');
      for (const number of [numbers.socketpair, numbers.clone, ...numbers.usual, ...numbers.refused])
        expect(on(number, 2, 1, 0)).toBe('allowed');
      expect(verdict(askingFilter(name), foreign, numbers.socket, [2, 1, 0])).toBe('allowed');
    });
  },
);

test('refuses x32 calls, which x86-64 kernels number differently', () => {
  const x32 = 0x4000_0000;
  for (const number of [x32, x32 + 1, x32 + 49, x32 + 541, 0xffff_ffff])
    expect(verdict(tenantFilter('x64'), X86_64, number)).toBe('EPERM');
});

test('refuses other processors by name', () => {
  expect(() => tenantFilter('s390x')).toThrow(OperatorError);
  expect(() => tenantFilter('s390x')).toThrow('s390x');
});

test('names the file after its content', () => {
  const { path, content } = tenantFilterFile(linuxLayout('/srv/host', '/run/host'));
  expect(path).toMatch(/^\/run\/host\/system-calls-[0-9a-f]{16}\.bpf$/);
  expect(content.equals(tenantFilter(process.arch))).toBe(true);
});
