import { expect, test } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { checkHsts } from './hsts.ts';

const HSTS = { HOMEPORT_HSTS_SECONDS: '86400' };
const found = (environment: Record<string, string>) => checkHsts(readConfig(environment));

test('HTTPS from now on needs a certificate that browsers trust', () => {
  expect(found({})).toEqual([]);
  expect(found(HSTS)).toMatchObject([{ state: 'warning', message: expect.stringContaining('self-signed') }]);
  const configured = { HOMEPORT_TLS_CERT: '/etc/api.crt', HOMEPORT_TLS_KEY: '/etc/api.key' };
  expect(found({ ...HSTS, ...configured })).toMatchObject([{ state: 'ok' }]);
  const proxied = { HOMEPORT_PUBLIC_URL: 'https://api.example.com', HOMEPORT_TRUST_PROXY: '10.0.0.1' };
  expect(found({ ...HSTS, ...proxied })).toMatchObject([{ state: 'ok' }]);
});
