import type { NetworkInterfaceInfo } from 'node:os';
import ipaddr from 'ipaddr.js';
import { expect, it } from 'vitest';
import { edgeAddresses } from './edge-addresses.ts';

const common = { netmask: '', mac: '', cidr: null, internal: false };
const v4 = (address: string): NetworkInterfaceInfo => ({ ...common, family: 'IPv4', address });
const v6 = (address: string): NetworkInterfaceInfo => ({ ...common, family: 'IPv6', address, scopeid: 0 });
const interfaces = {
  lo: [{ ...v4('127.0.0.1'), internal: true }],
  eth0: [v4('8.8.4.4'), v4('10.0.0.5'), v6('2606:4700::5'), v6('fe80::5'), v6('fd00::5')],
  docker0: [v4('172.17.0.1')],
};

function addresses(host: string, { configured = [''], allowed = [''] } = {}): string[] {
  return edgeAddresses(
    {
      edgeAddresses: configured.filter((address) => address !== ''),
      edgeHttp: { host, port: 80 },
      allowPrivateTargets: allowed.filter((range) => range !== '').map((range) => ipaddr.parseCIDR(range)),
    },
    interfaces,
  );
}

it('are the configured ones, else the one that the edge listens on, private or not', () => {
  expect(addresses('0.0.0.0', { configured: ['10.9.9.9'] })).toEqual(['10.9.9.9']);
  expect(addresses('10.0.0.5')).toEqual(['10.0.0.5']);
});

it('are the public ones of the interfaces if it listens on all', () => {
  expect(addresses('0.0.0.0')).toEqual(['8.8.4.4']);
  expect(addresses('::')).toEqual(['8.8.4.4', '2606:4700::5']);
});

it('include private ones if checks may reach them', () => {
  expect(addresses('0.0.0.0', { allowed: ['10.0.0.0/8'] })).toEqual(['8.8.4.4', '10.0.0.5']);
});
