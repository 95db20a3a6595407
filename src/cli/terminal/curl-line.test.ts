import { execFileSync } from 'node:child_process';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/database.ts';
import { loadApiCertificate } from '../../api/api-certificate.ts';
import { publishCertificate } from '../../api/public-certificate.ts';
import { systemClock } from '../../lib/clock.ts';
import { curlLine } from './curl-line.ts';

const credential = { username: 'user', password: 'a-b_c' };
const own = { publicUrl: 'https://localhost:8443', tlsCert: null, trustProxy: [], dataDir: '/srv/data' };

test("Homeport's own certificate is named, a configured one is not, nor a proxy's", () => {
  expect(curlLine(own, credential)).toBe(
    'curl --cacert /srv/data/tls/api.crt -u user:a-b_c https://localhost:8443/v1/user',
  );
  expect(curlLine({ ...own, tlsCert: '/etc/x.pem' }, credential)).not.toContain('--cacert');
  expect(curlLine({ ...own, trustProxy: [ipaddr.parseCIDR('127.0.0.1/32')] }, credential)).not.toContain(
    '--cacert',
  );
  expect(curlLine({ ...own, publicUrl: 'http://localhost:80' }, credential)).not.toContain('--cacert');
});

test('names the copy that other users can read, once the server has published it', async () => {
  const folder = temporaryFolder();
  try {
    const config = { ...own, dataDir: folder.path };
    const { cert } = await loadApiCertificate({ ...config, tlsKey: null }, systemClock);
    await publishCertificate(config, cert);
    expect(curlLine(config, credential)).toContain(`--cacert ${folder.path}-public/api.crt `);
  } finally {
    folder.remove();
  }
});

test('the shell sees the words as they are meant', () => {
  const dataDir = "/srv/it's $HOME; a folder";
  const line = curlLine({ ...own, dataDir }, { username: 'user', password: 'a"b`c$d' });
  const words = execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${line.slice('curl '.length)}`], {
    encoding: 'utf8',
  });
  expect(words.split('\n')).toEqual([
    '--cacert',
    `${dataDir}/tls/api.crt`,
    '-u',
    'user:a"b`c$d',
    'https://localhost:8443/v1/user',
    '',
  ]);
});
