import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { type Entry, tarOf, wpressOf, zipOf } from '../../websites/imports/archives.fixture.ts';
import { createUnpacker } from './unpacker.fixture.ts';

const unpacker = createUnpacker();
afterAll(() => unpacker.remove());

const plugin: Entry = { name: 'public_html/wp-content/plugins/a/a.php', content: '<?php' };
const dump: Entry = { name: 'dump.sql', content: 'CREATE TABLE a (b INT);' };

describe('an archive of a website', () => {
  test('gives its wp-content, its dump and its table prefix, without what belongs to the former host', async () => {
    const long = `${'n'.repeat(150)}.txt`;
    const tar = await tarOf([
      plugin,
      dump,
      { name: `public_html/wp-content/uploads/${long}`, content: 'x' },
      { name: 'public_html/wp-content/uploads/Größe.txt', content: 'x' },
      { name: 'public_html/wp-content/object-cache.php', content: 'x' },
      { name: 'public_html/wp-content/plugins/a/install.sql', content: 'x' },
      { name: 'public_html/wp-includes/version.php', content: 'x' },
      {
        name: 'public_html/wp-config.php',
        content: "<?php\n// $table_prefix = 'no_';\n$table_prefix = 'abc_';",
      },
    ]);
    for (const archive of [tar, gzipSync(tar)]) {
      expect(unpacker.unpack(archive)).toMatchObject({
        answer: {
          result: {
            dump: expect.stringMatching(/\/tree\/dump\.sql$/),
            tablePrefix: 'abc_',
            isWpress: false,
            files: expect.any(Number),
            bytes: expect.any(Number),
            notes: [],
          },
        },
        files: ['plugins/a/a.php', 'plugins/a/install.sql', 'uploads/Größe.txt', `uploads/${long}`],
      });
    }
  });

  test('can be a zip, also from Windows', () => {
    const archive = zipOf([
      { name: 'wp-content\\uploads\\x.txt', content: 'a' },
      { name: 'site.sql', content: 'x' },
    ]);
    expect(unpacker.unpack(archive).files).toEqual(['uploads/x.txt']);
  });

  test('can be made by All-in-One WP Migration', () => {
    const archive = wpressOf({ 'package.json': '{}', 'database.sql': 'x', 'plugins/a/a.php': 'y' });
    expect(unpacker.unpack(archive)).toMatchObject({
      answer: { result: { isWpress: true } },
      files: ['plugins/a/a.php'],
    });
    const network = wpressOf({ 'package.json': '{}', 'multisite.json': '{}' });
    expect(unpacker.unpack(network).answer).toMatchObject({ refused: expect.stringContaining('multisite') });
  });

  test('can be a set of files of UpdraftPlus', () => {
    const own = unpacker.folder();
    const name = 'backup_2026-01-01-1200_Shop_0123456789ab';
    writeFileSync(join(own, `${name}-db.gz`), gzipSync('CREATE TABLE a (b INT);'));
    writeFileSync(join(own, `${name}-plugins.zip`), zipOf([{ name: 'plugins/a/a.php', content: 'x' }]));
    writeFileSync(join(own, `${name}-uploads2.zip`), zipOf([{ name: 'uploads/b.txt', content: 'x' }]));
    expect(unpacker.unpackIn(own, `${name}-db.gz`)).toMatchObject({
      answer: { result: { dump: expect.stringMatching(/\/tree\/dump\.sql\.gz$/) } },
      files: ['plugins/a/a.php', 'uploads/b.txt'],
    });
    rmSync(join(own, `${name}-db.gz`));
    rmSync(join(own, 'tree'), { recursive: true });
    expect(unpacker.unpackIn(own, `${name}-plugins.zip`).answer).toMatchObject({
      refused: expect.stringContaining('-db.gz is missing'),
    });
  });

  const content = 'wp-content/x';
  const refused: [string, () => Promise<Buffer> | Buffer, string, object?][] = [
    ['a path out of it', () => tarOf([{ name: '../x', content: 'a' }]), 'leads out of it'],
    [
      'a path out of it in a zip',
      () => zipOf([{ name: 'wp-content/../../x', content: 'a' }]),
      'leads out of it',
    ],
    ['an absolute path', () => zipOf([{ name: '/etc/x', content: 'a' }]), 'absolute path'],
    [
      'a bomb',
      async () => gzipSync(await tarOf([{ name: content, content: Buffer.alloc(80 << 20) }])),
      '200 times',
    ],
    [
      'a bomb in an archive within',
      async () => gzipSync(await tarOf([{ name: 'account/homedir.tar', content: Buffer.alloc(80 << 20) }])),
      '200 times',
    ],
    [
      'an impossible size',
      () => tarOf([{ name: 'wp-config.php', content: '', pax: { size: '-5' } }]),
      'size in it is impossible',
    ],
    ['too many bytes', () => tarOf([plugin, dump]), 'more bytes than', { bytes: 10 }],
    ['too many files', () => tarOf([plugin, dump]), 'more files than', { files: 1 }],
    ['a file twice', () => tarOf([plugin, plugin, dump]), 'twice'],
    ['no dump', () => tarOf([plugin]), 'no dump'],
    ['two dumps', () => tarOf([plugin, dump, { ...dump, name: 'b.sql' }]), 'several dumps: dump.sql, b.sql'],
    ['no wp-content', () => tarOf([dump]), 'no folder wp-content'],
    ['two websites', () => tarOf([dump, plugin, { ...plugin, name: 'b/wp-content/x' }]), 'several websites'],
    ['a huge name', () => tarOf([{ name: `wp-content/${'x'.repeat(5_000)}`, content: 'a' }]), 'too long'],
    [
      'a huge name in a zip',
      () => zipOf([{ name: `wp-content/${'x'.repeat(5_000)}`, content: 'a' }]),
      'too long',
    ],
    ['a control character', () => zipOf([{ name: 'wp-content/a\nb', content: 'a' }]), 'control character'],
    ['an incomplete tar', async () => (await tarOf([plugin, dump])).subarray(0, 1_200), 'incomplete'],
    ['an incomplete zip', () => zipOf([{ name: content, content: 'a' }]).subarray(0, 40), 'damaged'],
    ['compressed SQL', () => gzipSync(dump.content ?? ''), 'no tar archive'],
    ['a web page', () => Buffer.from('<!doctype html>'), 'web page'],
    ['a damaged archive of Duplicator', () => Buffer.from('<DUP>'), 'DupArchive', { name: 'a.daf' }],
    ['RAR', () => Buffer.from('Rar!\x1a\x07'), 'RAR'],
    ['nothing', () => Buffer.alloc(0), 'empty'],
  ];
  test.each(refused)('is refused for %s', async (_name, archive, reason, options) => {
    expect(unpacker.unpack(await archive(), options).answer).toEqual({
      refused: expect.stringContaining(reason),
    });
  });

  test('is refused for a name that is not UTF-8', () => {
    const archive = zipOf([{ name: 'wp-content/Bl?te', content: 'a' }]);
    const other = Buffer.from(archive.toString('latin1').replaceAll('Bl?te', 'Bl\x81te'), 'latin1');
    expect(unpacker.unpack(other).answer).toEqual({ refused: expect.stringContaining('is not UTF-8') });
  });
});
