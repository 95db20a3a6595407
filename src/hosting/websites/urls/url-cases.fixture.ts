import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OperatedWebsite } from '../operated-website.fixture.ts';
import { replaceUrls, UrlsNotReplacedError } from './replace-urls.ts';

const PORTS = { http: '8080', https: '8444' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
/** A text as PHP serialises it. */
const text = (value: string) => `s:${Buffer.byteLength(value)}:"${value}";`;
const nested = (host: string, port = '') =>
  `a:2:{${text('url')}${text(`http://${host}${port}/x`)}${text('deep')}${text(`a:1:{i:0;${text(`//${host}/ünix`)}}`)}}`;

/** Cases of replacing URLs that every runtime must pass. */
export function urlCases(website: () => OperatedWebsite): void {
  describe('URLs in the database', () => {
    /** Runs code that finds `$given`. */
    const withGiven = (given: unknown, code: string) =>
      website().inWordPress(
        `global $wpdb; $given = json_decode(base64_decode('${base64(JSON.stringify(given))}'), true);\n${code}`,
      );
    const put = (values: Record<string, string>) =>
      withGiven(
        values,
        `foreach ($given as $name => $value) {
          $wpdb->replace('wp_options', ['option_name' => "url_$name", 'option_value' => $value, 'autoload' => 'no']);
        }`,
      );
    const stored = async (names: Record<string, unknown>): Promise<unknown> =>
      JSON.parse(
        await withGiven(
          Object.keys(names),
          `$found = [];
          foreach ($given as $name) {
            $found[$name] = $wpdb->get_var($wpdb->prepare('SELECT option_value FROM wp_options WHERE option_name = %s', "url_$name"));
          }
          echo json_encode($found);`,
        ),
      );

    it('are replaced in every form and nowhere else', async () => {
      const before = {
        plain: 'see http://old.test/a, https://OLD.test:8080/b and //old.test',
        other:
          'http://old.test.evil.net http://old.tests/ http://my-old.test/ mail@old.test http://notold.test',
        json: '{"a":"https:\\/\\/old.test\\/x","b":"https%3A%2F%2Fold.test%2Fy"}',
        within: JSON.stringify(JSON.stringify({ a: 'http:\\/\\/old.test\\/x' })),
        unicode: 'http://bücher.test/ http://xn--bcher-kva.test/ http://bücher.testing/',
        serialised: nested('old.test'),
        spaced: ` ${nested('old.test')}\r\n`,
        object: `O:8:"Nowhere1":1:{${text('u')}${text('http://old.test')}}`,
        broken: 'a:1:{s:3:"url";s:99:"http://old.test";}',
        // Nothing else in the row names the host.
        builder: `[fusion_code]${base64('<a href="http://old.test/x">')}[/fusion_code]`,
      };
      await put(before);
      await website().inWordPress(
        `global $wpdb;
        $wpdb->query('CREATE TABLE nokey (a TEXT, b INT)');
        $wpdb->query("INSERT INTO nokey VALUES ('http://old.test/', 1), ('http://old.test/', 2), ('x', 3)");
        $wpdb->query('CREATE TABLE pair (a INT, b VARCHAR(20), t TEXT, PRIMARY KEY (a, b))');
        $rows = array_map(static fn($at) => sprintf("(%d, 'k%d', 'http://old.test/%d')", $at % 3, $at, $at), range(0, 449));
        $wpdb->query('INSERT INTO pair VALUES ' . implode(', ', $rows));
        $wpdb->query("UPDATE wp_posts SET guid = 'http://old.test/?p=1' WHERE ID = 1");`,
      );
      const rows = await replaceUrls(website().runtime, {
        // A port of the host itself means nothing, and no URL contains the others.
        from: ['old.test:8080', '*.old.test', 'a/b', 'new.example', 'xn--bcher-kva.test'],
        ...{ to: 'new.example', scheme: null, ports: PORTS },
      });
      expect(JSON.parse(rows ?? '')).toMatchObject({ nokey: 2, pair: 450 });
      expect(await stored(before)).toEqual({
        // URLs keep their scheme, and get the port that the host has for it.
        plain: 'see http://new.example:8080/a, https://new.example:8444/b and //new.example',
        other: before.other,
        json: '{"a":"https:\\/\\/new.example:8444\\/x","b":"https%3A%2F%2Fnew.example%3A8444%2Fy"}',
        within: before.within.replace('old.test', 'new.example:8080'),
        unicode: 'http://new.example:8080/ http://new.example:8080/ http://bücher.testing/',
        serialised: nested('new.example', ':8080'),
        spaced: ` ${nested('new.example', ':8080')}\r\n`,
        object: `O:8:"Nowhere1":1:{${text('u')}${text('http://new.example:8080')}}`,
        broken: 'a:1:{s:3:"url";s:99:"http://new.example:8080";}',
        builder: `[fusion_code]${base64('<a href="http://new.example:8080/x">')}[/fusion_code]`,
      });
      const counted = await website().inWordPress(
        `global $wpdb; echo json_encode([
          (int) $wpdb->get_var("SELECT COUNT(*) FROM nokey WHERE a = 'http://new.example:8080/'"),
          (int) $wpdb->get_var("SELECT COUNT(*) FROM pair WHERE t = CONCAT('http://new.example:8080/', SUBSTR(b, 2))"),
          $wpdb->get_var('SELECT guid FROM wp_posts WHERE ID = 1'),
        ]);
        $wpdb->query('DROP TABLE nokey');
        $wpdb->query('DROP TABLE pair');`,
      );
      expect(JSON.parse(counted)).toEqual([2, 450, 'http://old.test/?p=1']);
    });

    it('get the scheme and the port of the visitors, unless they have the port of another service', async () => {
      const before = {
        plain: 'http://old.test/a,http://OLD.test:81/b //old.test ftp://old.test git+http://old.test',
        own: 'http://new.example/x and http://new.example:81/',
        json: '{"a":"http:\\/\\/old.test\\/x","b":"http%3A%2F%2Fold.test%2Fy","c":"http%3A%2F%2Fold.test%3A81"}',
        escaped: '{"a":"b\\nhttp:\\/\\/old.test"} ?a%3Dhttp%3A%2F%2Fold.test',
        serialised: `a:1:{i:0;${text('http://old.test/ü')}}`,
      };
      await put(before);
      const replaced = async (scheme: 'http' | 'https') => {
        const change = { from: ['old.test'], to: 'new.example', scheme, ports: PORTS };
        await replaceUrls(website().runtime, change);
        return stored(before);
      };
      const after = {
        plain:
          'https://new.example:8444/a,http://new.example:81/b //new.example:8444 ftp://new.example git+http://new.example',
        own: 'https://new.example:8444/x and http://new.example:81/',
        json: '{"a":"https:\\/\\/new.example:8444\\/x","b":"https%3A%2F%2Fnew.example%3A8444%2Fy","c":"http%3A%2F%2Fnew.example%3A81"}',
        escaped: '{"a":"b\\nhttps:\\/\\/new.example:8444"} ?a%3Dhttps%3A%2F%2Fnew.example%3A8444',
        serialised: `a:1:{i:0;${text('https://new.example:8444/ü')}}`,
      };
      expect(await replaced('https')).toEqual(after);
      // Those with the name of the website stay.
      expect(await replaced('http')).toEqual(after);
    });

    it('stay if a script of the website ends the run, whose reason is named', async () => {
      const before = { kept: 'http://old.test/' };
      await put(before);
      const config = join(website().root, 'wp-config.php');
      const change = { from: ['old.test'], to: 'new.example', scheme: null, ports: PORTS } as const;
      const content = await readFile(config, 'utf8');
      try {
        await writeFile(config, '<?php syntax error');
        const failure = await replaceUrls(website().runtime, change).catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(UrlsNotReplacedError);
        expect(failure).toMatchObject({
          message: expect.stringMatching(/^The URLs of old\.test in the database could not be replaced: /),
          reason: expect.stringMatching(/syntax error.* in wp-config\.php:1$/),
        });
        // It ends with status 0, as WordPress does after an error page.
        await writeFile(config, "<?php echo 'Maintenance'; exit;");
        await expect(replaceUrls(website().runtime, change)).rejects.toThrow(
          'could not be replaced: Maintenance',
        );
      } finally {
        await writeFile(config, content);
      }
      expect(await stored(before)).toEqual(before);
    });
  });
}
