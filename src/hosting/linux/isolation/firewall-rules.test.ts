import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { firewallRules, nameserversIn } from './firewall-rules.ts';

const policy = {
  instance: 'one',
  uids: { first: 200, last: 299 },
  edgePorts: [80, 443],
  allowed: ['10.0.0.0/8', '10.1.2.3/32', 'fd00::/8', 'fd00::1/128'].map((range) => ipaddr.parseCIDR(range)),
  nameservers: ['9.9.9.9', 'fd00::53'],
};

/** Position of a rule: the first match decides. */
function position(rules: string, rule: string): number {
  const at = rules.split('\n').findIndex((line) => line.includes(rule));
  expect(at, rule).toBeGreaterThan(-1);
  return at;
}

describe('firewall rules', () => {
  const rules = firewallRules(policy);

  it('apply only to the user ids of installs', () => {
    expect(rules).toContain('meta skuid 200-299 jump installs');
  });

  it('replace the whole table of this instance, and no other', () => {
    expect(rules.split('\n').slice(0, 3)).toEqual([
      'table inet homeport_one {}',
      'delete table inet homeport_one',
      'table inet homeport_one {',
    ]);
  });

  it('match the machine’s own addresses by single addresses, but not by ranges', () => {
    const local = position(rules, 'fib daddr type { local');
    expect(position(rules, 'ip daddr { 10.1.2.3/32 } accept')).toBeLessThan(local);
    expect(position(rules, 'ip6 daddr { fd00::1/128 } accept')).toBeLessThan(local);
    expect(position(rules, 'ip daddr { 10.0.0.0/8 } accept')).toBeGreaterThan(local);
    expect(position(rules, 'ip daddr { 10.0.0.0/8 } accept')).toBeLessThan(
      position(rules, '192.168.0.0/16,'),
    );
  });

  it('close port 25 everywhere', () => {
    const closed = position(rules, 'tcp dport 25 goto refused');
    expect(closed).toBeLessThan(position(rules, 'ip daddr { 10.1.2.3/32 } accept'));
  });

  it('allow DNS servers at any address', () => {
    const dns = 'meta l4proto { tcp, udp } th dport 53 accept';
    expect(position(rules, `ip daddr { 9.9.9.9 } ${dns}`)).toBeLessThan(
      position(rules, 'fib daddr type { local'),
    );
    expect(rules).toContain(`ip6 daddr { fd00::53 } ${dns}`);
  });

  it('have no empty sets', () => {
    expect(firewallRules({ ...policy, edgePorts: [], allowed: [], nameservers: [] })).not.toContain('{ }');
  });

  it('recognize IPv4 addresses translated to IPv6', () => {
    expect(rules).toContain('64:ff9b::a00:0/104');
    expect(position(rules, '64:ff9b::a00:0/104')).toBeLessThan(position(rules, '64:ff9b::/96'));
  });
});

describe('resolv.conf', () => {
  it('lists one server per line', () => {
    const text =
      '# nameserver 1.1.1.1\nnameserver 9.9.9.9\n nameserver\tfe80::1%eth0 \nnameserver x\nsearch a.b\n';
    expect(nameserversIn(text)).toEqual(['9.9.9.9', 'fe80::1']);
    expect(nameserversIn('')).toEqual([]);
  });
});
