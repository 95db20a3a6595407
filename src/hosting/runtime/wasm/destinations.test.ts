import { expect, it } from 'vitest';
import { createAddressPolicy } from '../../../network/probe/address-policy.ts';
import { createDestinations } from './destinations.ts';

const mayConnect = createDestinations({
  isPublic: createAddressPolicy([]),
  ownAddresses: () => ['127.0.0.1', '8.8.4.4', '2a00:1450:0:0:0:0:0:1', 'fe80::1%eth0'],
  edgePorts: [80, 443],
});

it.each([
  ['1.1.1.1', 443, true],
  ['1.1.1.1', 5432, true],
  ['1.1.1.1', 587, true],
  ['1.1.1.1', 25, false],
  ['10.0.0.1', 443, false],
  ['127.0.0.1', 80, false],
  ['8.8.4.4', 443, true],
  ['8.8.4.4', 5432, false],
  ['::ffff:8.8.4.4', 5432, false],
  ['2A00:1450::1', 8443, false],
  ['2a00:1450::2', 8443, true],
  ['localhost', 443, false],
])('says for %s port %i: %s', (address, port, allowed) => {
  expect(mayConnect(address, port)).toBe(allowed);
});
