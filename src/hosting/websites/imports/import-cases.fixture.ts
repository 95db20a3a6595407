import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cases, onlyInLong } from '../../../../test/rounds.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { RefusedImportError } from '../../contract/errors.ts';
import type { WebsiteImports } from '../../contract/imports.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import { type Entry, tarOf, wpressOf, zipOf } from './archives.fixture.ts';

/** A real website with WordPress, into which a host imports others. Its limits are {@link IMPORT_LIMITS}. */
export interface ImportingWebsite {
  install: InstallRef;
  imports: WebsiteImports;
  /** `http://shop.test`, with a port if visitors use one. */
  origin: string;
  /** The document root. */
  root: string;
  /** Puts a file into the private folder, as the owner does by SFTP. Gives its path there. */
  upload(name: string, bytes: Buffer): Promise<string>;
  /** The database as statements of MySQL. */
  dump(): Promise<string>;
  /** Runs code after WordPress was loaded. Gives what it wrote. */
  inWordPress(code: string): Promise<string>;
  /** The title in the table `<prefix>options`, without WordPress. */
  title(tablePrefix: string): Promise<string>;
  stop(): Promise<void>;
}

export const IMPORT_LIMITS = { bytes: 90 * 1024 ** 2, files: 4_000 };

/** The same scripts read all archives on every host. These differ most from host to host; the others belong to the mode long. */
const FEW_FORMATS = ['UpdraftPlus'];
const FEW_REFUSALS = ['a dump that the database refuses'];
const OLD = 'https://www.former.example';
const STYLE = 'body { color: rebeccapurple }';

/** The cases of imports that every host passes. Visitors are asked in the tests of each host. */
export function importCases(start: () => Promise<ImportingWebsite>): void {
  let shop: ImportingWebsite;
  /** Dump of a website at another address, with other tables and of an older WordPress. */
  let former: string;

  beforeAll(async () => {
    shop = await start();
    const dump = await shop.dump();
    former = `${dump
      .replaceAll('`wp_', '`old_')
      .replaceAll("'wp_user_roles'", "'old_user_roles'")
      .replaceAll("'wp_capabilities'", "'old_capabilities'")
      .replaceAll("'wp_user_level'", "'old_user_level'")
      .replaceAll(shop.origin, OLD)}
UPDATE old_options SET option_value = '58975' WHERE option_name = 'db_version';
UPDATE old_posts SET post_content = 'see ${OLD}/page for über' WHERE post_name = 'sample-page';
INSERT INTO old_options (option_name, option_value) VALUES ('widget_old', '${serialized(`${OLD}/a.png`)}');
`;
  });
  afterAll(async () => {
    await shop?.stop();
  });

  const titled = (title: string, dump = former) =>
    `${dump}UPDATE old_options SET option_value = '${title}' WHERE option_name = 'blogname';\n`;
  const content = (prefix: string): Entry[] => [
    { name: `${prefix}plugins/own/own.php`, content: '<?php /* Plugin Name: Own */' },
    { name: `${prefix}uploads/2026/photo.txt`, content: 'a photo' },
    { name: `${prefix}uploads/style.css`, content: STYLE },
    { name: `${prefix}object-cache.php`, content: '<?php exit("the former host");' },
  ];
  const config: Entry = { name: 'wp-config.php', content: "<?php\n$table_prefix = 'old_';\n" };
  const packed = (dump: string, ...more: Entry[]) =>
    tarOf([...content('wp-content/'), config, { name: 'dump.sql', content: dump }, ...more]).then((tar) =>
      gzipSync(tar),
    );
  const seen = () =>
    shop.inWordPress(
      "global $wpdb; echo json_encode([get_option('blogname'), $wpdb->prefix, get_option('widget_old'), get_option('home'), get_post(2)->post_content]);",
    );
  let tablePrefix = 'wp_';
  const titleNow = () => shop.title(tablePrefix);
  const inContent = (path: string) => ifThere(readFile(join(shop.root, 'wp-content', path), 'utf8'));
  const importFrom = async (file: string, importId: string | null = null) => {
    const imported = await shop.imports.importWebsite(shop.install, { file }, { importId });
    ({ tablePrefix } = imported);
    return imported;
  };

  const FORMATS: Record<string, () => Promise<string>> = {
    async 'tar.gz'() {
      return shop.upload('website.tar.gz', await packed(titled('tar.gz')));
    },
    async zip() {
      const entries = [...content('site/wp-content/'), { ...config, name: 'site/wp-config.php' }];
      const files = entries.map(({ name, content: text = '' }) => ({ name, content: text }));
      return shop.upload('website.zip', zipOf([...files, { name: 'dump.sql', content: titled('zip') }]));
    },
    async wpress() {
      const files = Object.fromEntries(content('').map(({ name, content: text = '' }) => [name, text]));
      const dump = titled('wpress').replaceAll('old_', 'SERVMASK_PREFIX_');
      return shop.upload(
        'website.wpress',
        wpressOf({ 'package.json': '{}', 'database.sql': dump, ...files }),
      );
    },
    async UpdraftPlus() {
      const name = 'backup_2026-01-01-1200_Shop_0123456789ab';
      const of = (folder: string) =>
        zipOf(
          content('')
            .filter((entry) => entry.name.startsWith(folder))
            .map((entry) => ({ name: entry.name, content: entry.content ?? '' })),
        );
      await shop.upload(`${name}-plugins.zip`, of('plugins/'));
      await shop.upload(`${name}-uploads.zip`, of('uploads/'));
      return shop.upload(`${name}-db.gz`, gzipSync(titled('UpdraftPlus')));
    },
  };

  describe('an import', () => {
    test.each(cases(FEW_FORMATS, Object.entries(FORMATS)))(
      'from %s replaces the website, with its own table prefix and the address here',
      async (format, archive) => {
        const steps = new Set<string | undefined>();
        const file = await archive();
        const id = `import of ${format}`;
        const imported = await shop.imports.importWebsite(
          shop.install,
          { file },
          { importId: id },
          undefined,
          (_done, _total, step) => void steps.add(step),
        );
        const prefix = format === 'wpress' ? 'wp_' : 'old_';
        tablePrefix = prefix;
        expect(imported).toEqual({
          tablePrefix: prefix,
          files: expect.any(Number),
          bytes: expect.any(Number),
          notes: [],
        });
        expect([...steps]).toEqual(['unpack', 'database', 'urls', 'check']);
        expect(JSON.parse(await seen())).toEqual([
          ...[format, prefix, { url: `${shop.origin}/a.png` }, shop.origin],
          `see ${shop.origin}/page for über`,
        ]);
        const upgraded =
          "global $wp_db_version; echo get_option('db_version') == $wp_db_version ? 'yes' : 'no';";
        expect(await shop.inWordPress(upgraded)).toBe('yes');
        expect(await inContent('uploads/2026/photo.txt')).toBe('a photo');
        expect(await inContent('uploads/style.css')).toBe(STYLE);
        expect((await inContent('object-cache.php')) ?? '').not.toContain('the former host');
        expect(await shop.imports.lastImport(shop.install)).toBe(id);
        // Again, it only checks the website.
        await shop.inWordPress("update_option('blogname', 'edited since');");
        await importFrom(file, id);
        expect(await titleNow()).toBe('edited since');
      },
    );

    onlyInLong(test)('keeps links within the website as links or copies, and no other', async () => {
      const link = (name: string, linkname: string): Entry => ({ name, type: 'symlink', linkname });
      const archive = await packed(
        titled('links'),
        link('wp-content/uploads/latest', '2026'),
        link('wp-content/uploads/main.css', 'style.css'),
        link('wp-content/uploads/passwd', '/etc/passwd'),
        link('wp-content/uploads/up', '../../..'),
      );
      const { notes } = await importFrom(await shop.upload('links.tar.gz', archive));
      expect(notes).toEqual([expect.stringMatching(/^Skipped 2 links to places outside of the website/)]);
      expect(await inContent('uploads/latest/photo.txt')).toBe('a photo');
      expect(await inContent('uploads/main.css')).toBe(STYLE);
      expect(await inContent('uploads/passwd')).toBeNull();
    });

    onlyInLong(test)('reads large statements, texts with quotes, and latin1', async () => {
      const rows = Array.from({ length: 3_000 }, (_, at) => `(${at},'a;'')(\\'${'x'.repeat(40)}\\\\')`);
      const large = `CREATE TABLE old_large (id INT NOT NULL, t VARCHAR(99), PRIMARY KEY (id)) ENGINE=MyISAM DEFAULT CHARSET=latin1;
INSERT INTO old_large VALUES ${rows.join(',')};
`;
      const dump = Buffer.from(
        `SET NAMES latin1;\n${titled('K\xf6ln', former.replace(/^.*SET NAMES.*$/gm, '').replaceAll('über', '\xfcber'))}${large}`,
        'latin1',
      );
      const archive = gzipSync(
        await tarOf([...content('wp-content/'), config, { name: 'dump.sql', content: dump }]),
      );
      await importFrom(await shop.upload('latin1.tar.gz', archive));
      expect(await titleNow()).toBe('Köln');
      const counted =
        "global $wpdb; echo implode(' ', $wpdb->get_row('SELECT COUNT(*), MAX(id), MIN(LENGTH(t)) FROM old_large', ARRAY_N));";
      expect(await shop.inWordPress(counted)).toBe('3000 2999 47');
    });

    const large = `CREATE TABLE old_big (t LONGTEXT);\n${`INSERT INTO old_big VALUES ('${'x'.repeat(1 << 20)}');\n`.repeat(95)}`;
    const REFUSED: [string, () => Promise<Buffer>, RegExp][] = [
      ['a path out of it', () => packed(former, { name: '../x', content: 'a' }), /leads out of it/],
      [
        'too many files',
        () =>
          packed(
            former,
            ...Array.from({ length: IMPORT_LIMITS.files }, (_, at) => ({ name: `wp-content/many/${at}` })),
          ),
        /more files than an install may have/,
      ],
      [
        'too many bytes',
        () => packed(former, ...bigFiles(IMPORT_LIMITS.bytes + 1024 ** 2)),
        /more bytes than an install may have|200 times/,
      ],
      ['a dump that is too large', () => packed(former + large), /more bytes than|200 times/],
      [
        'a dump that ends early',
        () => packed(former.slice(0, former.lastIndexOf("'"))),
        /dump is incomplete/,
      ],
      [
        'a dump that the database refuses',
        () => packed(`${former}INSERT INTO old_absent VALUES (1);\n`),
        /The database (?:server )?refuses the (?:dump|statement in line \d+ of the dump): .*old_absent/,
      ],
      [
        'a dump in another encoding',
        async () =>
          gzipSync(
            await tarOf([
              ...content('wp-content/'),
              config,
              {
                name: 'dump.sql',
                content: Buffer.from(titled('K\xf6ln', former.replaceAll('über', '')), 'latin1'),
              },
            ]),
          ),
        /another encoding than it says/,
      ],
      ['a dump without WordPress', () => packed('CREATE TABLE a (b INT);'), /The dump has no WordPress/],
      ['a file of another format', async () => Buffer.from('Rar!\x1a\x07'), /RAR/],
    ];
    test.each(cases(FEW_REFUSALS, REFUSED))(
      'is refused for %s, and changes nothing',
      async (_name, archive, reason) => {
        const [title, last] = [await titleNow(), await shop.imports.lastImport(shop.install)];
        const file = await shop.upload('refused.bin', await archive());
        const refusal = await importFrom(file, 'refused').then(
          () => null,
          (error: unknown) => error,
        );
        expect(refusal).toBeInstanceOf(RefusedImportError);
        expect(String(refusal)).toMatch(reason);
        expect(await titleNow()).toBe(title);
        expect(await shop.imports.lastImport(shop.install)).toBe(last);
      },
    );

    test('that is cancelled changes nothing', async () => {
      const title = await titleNow();
      const file = await shop.upload('cancelled.tar.gz', await packed(titled('cancelled')));
      const cancelling = new AbortController();
      const importing = shop.imports.importWebsite(
        shop.install,
        { file },
        { importId: 'cancelled' },
        cancelling.signal,
        (_done, _total, step) => step === 'database' && cancelling.abort(new Error('cancelled')),
      );
      await expect(importing).rejects.toThrow('cancelled');
      expect(await titleNow()).toBe(title);
    });
  });
}

/** Files that hardly shrink. */
function bigFiles(bytes: number): Entry[] {
  const piece = Buffer.from(Array.from({ length: 64 * 1024 }, (_, at) => (at * at * 31 + at) & 0xff));
  const file = Buffer.concat(Array.from({ length: 64 }, () => piece));
  return Array.from({ length: Math.ceil(bytes / file.length) }, (_, at) => ({
    name: `wp-content/uploads/big-${at}`,
    content: file,
  }));
}

const serialized = (url: string): string => `a:1:{s:3:"url";s:${url.length}:"${url}";}`;
