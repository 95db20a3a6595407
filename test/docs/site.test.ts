import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { describedApi } from '../../src/app/description.ts';
import { anchorsOf, replaceLinks } from '../../tools/docs/links.ts';
import { referencePages } from '../../tools/docs/reference.ts';
import { stage } from '../../tools/docs/stage.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeport-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every link of the documents leads to a page, a heading or a file', () => {
  const { navigation } = stage(folder, describedApi());
  expect(navigation.map(({ title }) => title)).toContain('API reference');
  expect(readFileSync(join(folder, 'tutorials/client.md'), 'utf8')).toContain('](../client-package.md)');
});

test('the reference has every endpoint with its example', () => {
  const pages = referencePages(describedApi());
  const domains = pages.get('reference/domains.md') ?? '';
  expect(domains).toContain('{#createdomain}');
  expect(domains).toContain('[CreateDomain](./objects.md#createdomain)');
  expect(domains).toContain(`-d '{"name":"www.example.com","primary":false}'`);
  expect(pages.get('reference/index.md')).toContain('(./domains.md#createdomain)');
});

test('links in code stay, and those to headings keep their anchors', () => {
  const markdown =
    'See [a](a.md#one) and `[b](b.md)`.\n\n```sh\n[c](c.md)\n```\n[d](https://d.example/d.md)\n';
  expect(replaceLinks(markdown, ({ target, anchor }) => ({ target: `x/${target}${anchor}` }))).toBe(
    markdown.replace('(a.md#one)', '(x/a.md#one)'),
  );
});

test('anchors are those of GitHub', () => {
  expect([
    ...anchorsOf('# Move & copy\n\n```sh\n# no heading\n```\n## `wp` of [PHP](x.md)\n## Move & copy\n'),
  ]).toEqual(['move--copy', 'wp-of-php', 'move--copy-1']);
});
