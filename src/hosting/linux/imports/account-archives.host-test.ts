import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { dupArchiveOf, type Entry, tarOf, zipOf } from '../../websites/imports/archives.fixture.ts';
import { createUnpacker } from './unpacker.fixture.ts';

const unpacker = createUnpacker();
afterAll(() => unpacker.remove());

const config = (database: string, prefix = 'wp_') =>
  `<?php\ndefine( 'DB_NAME', '${database}' );\n$table_prefix = '${prefix}';\n`;
const dump = (database: string) =>
  `-- MySQL dump 10.13\n--\n-- Host: localhost    Database: ${database}\nCREATE TABLE \`wp_options\` (a INT); -- ${database}\n`;
const website = (root: string, database: string, mark: string): Entry[] => [
  { name: `${root}/wp-config.php`, content: config(database, `${mark}_`) },
  { name: `${root}/wp-content/plugins/own/${mark}.php`, content: '<?php' },
  { name: `${root}/wp-content/index.php`, content: '<?php' },
];
const refusal = (text: string | RegExp) => ({ refused: expect.stringMatching(text) });

describe('a full backup of cPanel', () => {
  const TOP = 'backup-1.31.2026_10-00-00_ada';
  const userdata = (domain: string, folder: string): Entry => ({
    name: `${TOP}/userdata/${domain}`,
    content: `---\ndocumentroot: /home/ada/${folder}\nhomedir: /home/ada\nservername: ${domain}\nuser: ada\n`,
  });
  const account: Entry[] = [
    { name: `${TOP}/version`, content: 'pkgacct version: 10' },
    { name: `${TOP}/homedir/`, type: 'directory' },
    { name: `${TOP}/homedir/www`, type: 'symlink', linkname: 'public_html' },
    { name: `${TOP}/homedir/access-logs`, type: 'symlink', linkname: '/etc/apache2/logs/domlogs/ada' },
    { name: `${TOP}/homedir/mail/cur/1700.M1P2.host,S=1\x07:2,S`, content: 'mail' },
    { name: `${TOP}/homedir/.trash/old/wp-content/x.php`, content: '<?php' },
    { name: `${TOP}/homedir/.trash/old/wp-config.php`, content: config('ada_old') },
    { name: `${TOP}/cron/ada`, content: '0 * * * * true' },
    { name: `${TOP}/dnszones/example.com.db`, content: '; zone' },
    {
      name: `${TOP}/mysql.sql`,
      content: "-- cPanel mysql backup\nGRANT USAGE ON *.* TO 'ada'@'localhost';\n",
    },
    { name: `${TOP}/mysql/ada_wp.create`, content: 'CREATE DATABASE' },
    { name: `${TOP}/mysql/ada_wp.sql`, content: dump('ada_wp') },
    { name: `${TOP}/mysql/ada_other.sql`, content: dump('ada_other') },
    ...website(`${TOP}/homedir/public_html`, 'ada_wp', 'main'),
    userdata('example.com', 'public_html'),
    {
      name: `${TOP}/userdata/main`,
      content: '---\naddon_domains:\n  shop.example: shop.example.com\nmain_domain: example.com\n',
    },
  ];
  const addon: Entry[] = [
    ...website(`${TOP}/homedir/public_html/shop`, 'ada_other', 'shop'),
    userdata('shop.example.com', 'public_html/shop'),
  ];

  test('gives its website with the dump that the wp-config.php names, and says what it leaves', async () => {
    const { answer, files } = unpacker.unpack(gzipSync(await tarOf(account)));
    expect(answer).toMatchObject({
      result: {
        tablePrefix: 'main_',
        dump: expect.stringMatching(/dump\.sql$/),
        notes: ['Not imported: other databases: ada_other.', 'Not imported: email, cron jobs, DNS zones.'],
      },
    });
    expect(files).toEqual(['index.php', 'plugins/own/main.php']);
  });

  test('asks which of its websites, by domain or folder', async () => {
    const archive = gzipSync(await tarOf([...account, ...addon]));
    expect(unpacker.unpack(archive).answer).toEqual(
      refusal(
        /several websites: example\.com \(public_html\), shop\.example \(public_html\/shop\)\. Import it again, and name one/,
      ),
    );
    for (const site of [
      'shop.example',
      'SHOP.example',
      'public_html/shop/',
      `${TOP}/homedir/public_html/shop`,
    ]) {
      const { answer, files } = unpacker.unpack(archive, { site });
      expect(answer).toMatchObject({
        result: {
          tablePrefix: 'shop_',
          notes: [
            expect.stringContaining('example.com'),
            expect.stringContaining('ada_wp'),
            expect.anything(),
          ],
        },
      });
      expect(files).toEqual(['index.php', 'plugins/own/shop.php']);
    }
    expect(unpacker.unpack(archive, { site: 'example.org' }).answer).toEqual(
      refusal(/no website "example\.org"\. It has: example\.com .*, shop\.example/),
    );
  });

  test('gives the website of a domain, though the folder of another one is called so', async () => {
    const moved = [
      ...website(`${TOP}/homedir/example.com`, 'ada_other', 'shop'),
      userdata('shop.example.com', 'example.com'),
    ];
    const archive = gzipSync(await tarOf([...moved, ...account]));
    expect(unpacker.unpack(archive, { site: 'example.com' }).files).toEqual([
      'index.php',
      'plugins/own/main.php',
    ]);
  });

  test('is refused without the dump of its database', async () => {
    const lacking = account.filter(({ name }) => !name.endsWith('ada_wp.sql'));
    expect(unpacker.unpack(gzipSync(await tarOf(lacking))).answer).toEqual(
      refusal('no dump of the database ada_wp, which the website example.com uses'),
    );
  });

  test('can have its home as an archive within', async () => {
    const isOfHome = ({ name }: Entry) => name.startsWith(`${TOP}/homedir/`);
    const home = account
      .filter(isOfHome)
      .map((entry) => ({ ...entry, name: `.${entry.name.slice(`${TOP}/homedir`.length)}` }));
    const rest = account.filter((entry) => !isOfHome(entry));
    const archive = await tarOf([...rest, { name: `${TOP}/homedir.tar`, content: await tarOf(home) }]);
    expect(unpacker.unpack(gzipSync(archive))).toMatchObject({
      answer: { result: { tablePrefix: 'main_' } },
      files: ['index.php', 'plugins/own/main.php'],
    });
  });
});

describe('a backup of Plesk', () => {
  const zstandard = (bytes: Buffer) => execFileSync('zstd', ['--quiet', '--stdout'], { input: bytes });
  async function backupOf(
    sites: Entry[],
    ending: string,
    compress: (bytes: Buffer) => Buffer,
  ): Promise<Buffer> {
    const dumpOf = async (name: string) => compress(await tarOf([{ name, content: dump(name) }]));
    return tarOf([
      {
        name: 'backup_info_2601311000.xml',
        content: '<?xml version="1.0"?><migration-dump><domain id="1" name="example.com">',
      },
      { name: `backup_user-data_2601311000.${ending}`, content: compress(await tarOf(sites)) },
      { name: `databases/wp_one_1/backup_sqldump_2601311000.${ending}`, content: await dumpOf('wp_one') },
      { name: `databases/wp_two_2/backup_sqldump_2601311000.${ending}`, content: await dumpOf('wp_two') },
    ]);
  }

  test.each([
    ['tgz', gzipSync],
    ['tzst', zstandard],
  ])('with its archives within as .%s gives its website and dump', async (ending, compress) => {
    const one = await backupOf(website('httpdocs', 'wp_one', 'one'), ending, compress);
    expect(unpacker.unpack(one)).toMatchObject({
      answer: { result: { tablePrefix: 'one_', notes: ['Not imported: other databases: wp_two.'] } },
      files: ['index.php', 'plugins/own/one.php'],
    });
    const both = [...website('httpdocs', 'wp_one', 'one'), ...website('shop.example', 'wp_two', 'two')];
    const two = await backupOf(both, ending, compress);
    expect(unpacker.unpack(two).answer).toEqual(
      refusal(/several websites: example\.com \(httpdocs\), shop\.example\./),
    );
    expect(unpacker.unpack(two, { site: 'shop.example' })).toMatchObject({
      answer: { result: { tablePrefix: 'two_' } },
      files: ['index.php', 'plugins/own/two.php'],
    });
  });

  test('is refused if an archive within is damaged', async () => {
    const cut = (bytes: Buffer) => gzipSync(bytes).subarray(0, 150);
    const damaged = await backupOf(website('httpdocs', 'wp_one', 'one'), 'tgz', cut);
    expect(unpacker.unpack(damaged).answer).toEqual(refusal(/incomplete|damaged/));
  });
});

describe('a package of Duplicator', () => {
  const entries = {
    'wp-content/plugins/a/a.php': '<?php',
    'wp-content/uploads/large.bin': Buffer.alloc(3_000_000, 'large'),
    'dup-installer/dup-database__1234-567.sql': dump('old'),
    'dup-installer/original_files_1234-567/source_site_wpconfig': config('old', 'dup_'),
    'wp-content/backups-dup-lite/other.sql': dump('other'),
  };
  test.each([
    ['zip', () => zipOf(Object.entries(entries).map(([name, content]) => ({ name, content })))],
    ['daf', () => dupArchiveOf({ 'dup-archive-index.json': '["test"]\0\0', ...entries })],
    ['daf without compression', () => dupArchiveOf(entries, { isCompressed: false, pieceBytes: 1_000 })],
  ])('as .%s gives its website', (_format, archive) => {
    expect(unpacker.unpack(archive())).toMatchObject({
      answer: { result: { tablePrefix: 'dup_', bytes: expect.any(Number) } },
      files: ['backups-dup-lite/other.sql', 'plugins/a/a.php', 'uploads/large.bin'],
    });
  });

  test('as .daf is refused if it is damaged', () => {
    const whole = dupArchiveOf(entries);
    const bomb = Buffer.from(whole.toString('latin1').replace('<OS>1048576', '<OS>9048576'), 'latin1');
    for (const archive of [whole.subarray(0, whole.length - 40), bomb]) {
      expect(unpacker.unpack(archive).answer).toEqual(refusal('Duplicator .* is damaged or incomplete'));
    }
  });
});

test('the only dump of an archive is imported, with a note if the website uses another database', async () => {
  const packed = async (text: string) =>
    unpacker.unpack(await tarOf([...website('site', 'wp_one', 'one'), { name: 'dump.sql', content: text }]))
      .answer;
  const ofPhpMyAdmin = (name: string) =>
    `-- phpMyAdmin SQL Dump\n--\n-- Database: \`${name}\`\n--\nCREATE TABLE a (a INT);`;
  expect(await packed(ofPhpMyAdmin('wp_one'))).toMatchObject({ result: { notes: [] } });
  expect(await packed(ofPhpMyAdmin('wp_two'))).toMatchObject({
    result: {
      notes: ['The dump is of the database wp_two, and the wp-config.php of the website names wp_one.'],
    },
  });
});

test('an archive of Homeport gives its website, whatever its private folder has', async () => {
  const archive = await tarOf([
    { name: 'homeport.json', content: '{"format":"homeport-backup"}' },
    { name: 'database.sql', content: dump('hp_1') },
    { name: 'htdocs/wp-config.php', content: "<?php $table_prefix = 'own_';" },
    { name: 'htdocs/wp-content/a.php', content: '<?php' },
    { name: 'private/logs', type: 'symlink', linkname: '../logs' },
    { name: 'private/wp-content/b.php', content: '<?php' },
    { name: 'private/before.sql', content: dump('hp_1') },
    { name: 'manifest.json', content: '{}' },
  ]);
  expect(unpacker.unpack(gzipSync(archive))).toMatchObject({
    answer: { result: { tablePrefix: 'own_', notes: [] } },
    files: ['a.php'],
  });
});
