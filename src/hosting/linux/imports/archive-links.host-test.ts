import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { type Entry, tarOf, zipOf } from '../../websites/imports/archives.fixture.ts';
import { createUnpacker } from './unpacker.fixture.ts';

const unpacker = createUnpacker();
afterAll(() => unpacker.remove());

const dump: Entry = { name: 'dump.sql', content: 'CREATE TABLE a (b INT);' };
const file = (name: string, content = name): Entry => ({ name, content });
const link = (name: string, linkname: string): Entry => ({ name, type: 'symlink', linkname });
const hardLink = (name: string, linkname: string): Entry => ({ name, type: 'link', linkname });
const unpack = async (...entries: Entry[]) => unpacker.unpack(gzipSync(await tarOf([dump, ...entries])));
const notes = (...lines: unknown[]) => ({ result: { notes: lines } });

describe('links in the website', () => {
  test('within wp-content stay links', async () => {
    const { answer, files, place } = await unpack(
      file('site/wp-content/uploads/2026/a.png'),
      link('site/wp-content/uploads/latest', '2026'),
      link('site/wp-content/plugins/b', '../uploads/latest/a.png'),
      link('site/wp-content/own', '/home/ada/public_html/wp-content/uploads'),
    );
    expect(answer).toMatchObject(notes());
    expect(files).toEqual([
      'own -> uploads',
      'plugins/b -> ../uploads/2026/a.png',
      'uploads/2026/a.png',
      'uploads/latest -> uploads/2026'.replace('-> uploads/', '-> ../uploads/'),
    ]);
    expect(readFileSync(join(place, 'plugins/b'), 'utf8')).toBe('site/wp-content/uploads/2026/a.png');
  });

  test('to other folders of the archive become copies, also for wp-content itself', async () => {
    const { answer, files } = await unpack(
      file('shared/uploads/a.png'),
      file('shared/content/index.php'),
      link('current/wp-content', '../shared/content'),
      link('shared/content/uploads', '../uploads'),
    );
    expect(files).toEqual(['index.php']);
    expect(answer).toMatchObject(
      notes(expect.stringContaining('Skipped a link in a folder that was copied')),
    );
    const inner = await unpack(
      file('shared/a.png'),
      file('site/wp-content/x'),
      link('site/wp-content/uploads', '../../shared'),
    );
    expect(inner.files).toEqual(['uploads/a.png', 'x']);
    expect(inner.answer).toMatchObject(notes());
  });

  test('that are hard become copies', async () => {
    const { answer, files, place } = await unpack(
      file('wp-content/a', 'same'),
      file('other/b', 'outside'),
      hardLink('wp-content/c', 'wp-content/a'),
      hardLink('wp-content/d', 'other/b'),
    );
    expect([answer, files]).toMatchObject([notes(), ['a', 'c', 'd']]);
    expect(readFileSync(join(place, 'c'), 'utf8')).toBe('same');
    expect(readFileSync(join(place, 'd'), 'utf8')).toBe('outside');
    expect(lstatSync(join(place, 'c')).nlink).toBe(1);
  });

  test('that lead out, nowhere or around are skipped with a note', async () => {
    const { answer, files } = await unpack(
      file('wp-content/x'),
      link('wp-content/passwd', '/etc/passwd'),
      link('wp-content/up', '../../../etc'),
      link('wp-content/round', 'round'),
      link('wp-content/a', 'b'),
      link('wp-content/b', 'a'),
      link('wp-content/self', '.'),
      link('wp-content/parent', '..'),
      link('wp-content/absent', 'absent-file'),
      hardLink('wp-content/hard', '/etc/shadow'),
      hardLink('wp-content/hard2', '../../etc/shadow'),
      link('outside', '/etc'),
    );
    expect(files).toEqual(['x']);
    expect(answer).toMatchObject(
      notes(
        expect.stringMatching(
          /^Skipped 9 links to places outside of the website: wp-content\/passwd, wp-content\/up, /,
        ),
        'Skipped a link to files that the archive lacks: absent.',
      ),
    );
  });

  test('in a zip are treated in the same way', () => {
    const { answer, files } = unpacker.unpack(
      zipOf([
        { name: 'dump.sql', content: 'x' },
        { name: 'wp-content/a', content: 'a' },
        { name: 'wp-content/in', content: 'a', mode: 0o120777 },
        { name: 'wp-content/out', content: '/etc/passwd', mode: 0o120777 },
      ]),
    );
    expect(files).toEqual(['a', 'in -> a']);
    expect(answer).toMatchObject(
      notes(expect.stringContaining('Skipped a link to places outside of the website')),
    );
  });

  test('of the former object cache are left out', async () => {
    const { files } = await unpack(
      file('wp-content/plugins/redis/o.php'),
      link('wp-content/object-cache.php', 'plugins/redis/o.php'),
    );
    expect(files).toEqual(['plugins/redis/o.php']);
  });
});

describe('hostile archives', () => {
  test('write no file through a link', async () => {
    const own = unpacker.folder();
    const victim = join(own, 'victim');
    mkdirSync(victim);
    for (const target of [victim, '../..', '../tree']) {
      const { answer, files } = await unpack(
        link('wp-content/a', target),
        file('wp-content/a/written'),
        link('wp-content/b', 'c'),
        link('wp-content/c', victim),
        file('wp-content/b/written'),
        hardLink('wp-content/d', 'wp-content/a'),
        file('wp-content/d/written'),
      );
      expect(answer).toMatchObject({ result: {} });
      expect(files).toEqual(['a/written', 'b/written', 'd/written']);
      expect(existsSync(join(victim, 'written'))).toBe(false);
    }
  });

  test('make no link through a link', async () => {
    const { files } = await unpack(
      file('wp-content/real/x'),
      link('wp-content/a', 'real'),
      link('wp-content/a/inner', '../real/x'),
    );
    expect(files).toEqual(['a -> real', 'real/x']);
  });

  test('with too many links are refused', async () => {
    const many = (count: number, folder: string) =>
      Array.from({ length: count }, (_, at) => link(`${folder}/${at}`, `${at + 1}`));
    expect((await unpack(file('wp-content/x'), ...many(10_001, 'wp-content'))).answer).toEqual({
      refused: expect.stringContaining('more than 10,000 links'),
    });
    expect((await unpack(file('wp-content/x'), ...many(20_001, 'other'))).answer).toEqual({
      refused: expect.stringContaining('more than 20,000 links'),
    });
  });

  test('whose links lead through very many folders are refused', async () => {
    const around = Array.from({ length: 300 }, (_, at) =>
      link(`wp-content/${at}`, `${'./'.repeat(1_000)}${(at + 1) % 300}`),
    );
    expect((await unpack(file('wp-content/x'), ...around)).answer).toEqual({
      refused: expect.stringContaining('lead through too many folders'),
    });
  });

  test('copy no more than an install may have', async () => {
    const copies = Array.from({ length: 50 }, (_, at) => hardLink(`wp-content/${at}`, 'wp-content/x'));
    const archive = gzipSync(await tarOf([dump, file('wp-content/x', 'x'.repeat(1_000)), ...copies]));
    expect(unpacker.unpack(archive, { bytes: 20_000 }).answer).toEqual({
      refused: expect.stringContaining('more bytes'),
    });
    expect(unpacker.unpack(archive, { files: 20 }).answer).toEqual({
      refused: expect.stringContaining('more files'),
    });
  });

  test('have their devices and pipes skipped', async () => {
    const { answer, files } = await unpack(
      file('wp-content/x'),
      { name: 'wp-content/null', type: 'character-device' },
      { name: 'wp-content/pipe', type: 'fifo' },
      { name: 'dev/null', type: 'block-device' },
    );
    expect(files).toEqual(['x']);
    expect(answer).toMatchObject(notes('Skipped 2 special files: wp-content/null, wp-content/pipe.'));
  });
});

test('files with holes keep their content', async () => {
  const own = unpacker.folder();
  const content = join(own, 'wp-content');
  mkdirSync(content);
  const holes = join(content, 'holes');
  const pieces = Array.from({ length: 40 }, (_, at) => ({ at: at * 200_000, text: `piece ${at}` }));
  writeFileSync(holes, '');
  truncateSync(holes, 9_000_000);
  for (const { at, text } of pieces) {
    execFileSync('dd', [`of=${holes}`, 'conv=notrunc', 'oflag=seek_bytes', `seek=${at}`, 'status=none'], {
      input: text,
    });
  }
  writeFileSync(join(own, 'dump.sql'), 'CREATE TABLE a (b INT);');
  execFileSync(
    'tar',
    ['--create', '--format=gnu', '--sparse', '--file=holes.tar', 'wp-content', 'dump.sql'],
    { cwd: own },
  );
  const archive = readFileSync(join(own, 'holes.tar'));
  expect(archive.length).toBeLessThan(2_000_000);
  const { files, place } = unpacker.unpack(archive);
  expect(files).toEqual(['holes']);
  expect(readFileSync(join(place, 'holes')).equals(readFileSync(holes))).toBe(true);
});
