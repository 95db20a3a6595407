import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { checkPages } from './website-pages.ts';

let homeport: TestHomeport;
let shop: { id: string; name: string };
let blog: { id: string; name: string };

beforeAll(async () => {
  homeport = await startTestHomeport({
    environment: {
      HOMEPORT_WORDPRESS_FETCH: 'false',
      HOMEPORT_EMBEDDED_PHP_MB: '2000',
      HOMEPORT_INSTALL_RUNTIME: 'wordpress',
    },
  });
  const { accountId, owner } = await homeport.ownedAccount();
  shop = await homeport.install(owner, accountId);
  blog = await homeport.install(owner, accountId);
});
afterAll(() => homeport?.remove());

const fileOf = ({ id }: { id: string }, path: string) =>
  join(homeport.config.dataDir, 'host/installs', id, 'files', path);

function look(options: Parameters<typeof checkPages>[2] = {}) {
  const { platform, config, hosting } = homeport;
  if (hosting == null) throw new Error('it serves no websites');
  const { edgeHttp, edgeHttps } = hosting;
  return checkPages(platform.database, { ...config, edgeHttp, edgeHttps }, options);
}

test('a syntax error in the files of a website is a finding that names file and line', async () => {
  const reported: string[] = [];
  expect(await look({ report: (state) => reported.push(state) })).toEqual([
    { check: 'pages', state: 'ok', message: 'The pages of 2 websites with WordPress work.', remedy: null },
  ]);
  expect(reported).toEqual(['1 of 2 websites', '2 of 2 websites']);

  const config = fileOf(shop, 'wp-config.php');
  const whole = readFileSync(config, 'utf8');
  appendFileSync(config, '\n<?php function (');
  const findings = await look();
  expect(findings[0]).toMatchObject({
    check: 'pages',
    state: 'problem',
    message: expect.stringMatching(/^\S+: the home page answers 500: .*syntax error.* wp-config\.php:\d+\.$/),
    remedy: expect.stringContaining(`"homeport backup list --install ${shop.name}"`),
  });
  expect(findings.some(({ message }) => message.startsWith(blog.name))).toBe(false);
  writeFileSync(config, whole);
});

test('beyond the limit, websites are counted', async () => {
  expect(await look({ most: 1 })).toMatchObject([
    {
      state: 'ok',
      message:
        'The pages of 1 website with WordPress work. 1 more were not requested: doctor requests 1 at most.',
    },
  ]);
});
