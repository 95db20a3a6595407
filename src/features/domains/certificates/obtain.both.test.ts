import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { HostUnreachableError } from '../../../hosting/remote/client.ts';
import { obtain } from './obtain.ts';

let homeport: TestHomeport;
beforeAll(async () => {
  homeport = await startTestHomeport();
});
afterAll(() => homeport?.remove());

it('counts neither a failure nor a validation for an unreachable host', async () => {
  const { platform } = homeport;
  const unused = () => Promise.reject(new Error('not asked here'));
  const away = () => Promise.reject(new HostUnreachableError('The host web2 does not answer'));
  const issuance = {
    platform,
    directoryUrl: 'https://acme.example/directory',
    authority: { about: unused, register: unused, obtain: unused, renewalWindow: unused },
    host: { publish: away, withdraw: away },
    internet: {
      resolver: { servers: [], resolve: unused },
      prober: {
        targets: async () => [{ address: '127.0.0.1', family: 4 as const, allowed: true }],
        follow: unused,
        get: unused,
        handshake: unused,
      },
      mayContact: () => true,
      authoritativePort: 53,
    },
  };
  const { signal } = new AbortController();
  expect(await obtain(issuance, 'shop.localhost', null, signal)).toEqual({ kind: 'paused', waitMs: 60_000 });
  const validations = await platform.database.reader.selectFrom('acme_validations').selectAll().execute();
  expect(validations).toEqual([]);
});
