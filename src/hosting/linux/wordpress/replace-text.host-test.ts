import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../wordpress/php/replace-text.php', import.meta.url));

/** The values with replaced URLs, and those that PHP cannot unserialise afterwards. */
function replaced(values: string[], from: string[], to: { scheme: string; host: string }): string[] {
  const code = `require $argv[1]; [$values, $from, $to] = json_decode(stream_get_contents(STDIN), true);
    echo json_encode(array_map(static fn($value) => replace_in_value($value, $from, $to), $values));`;
  const output = execFileSync('php', ['-r', code, SCRIPT], {
    input: JSON.stringify([values, from, to]),
    encoding: 'utf8',
  });
  return JSON.parse(output);
}

/** The value that PHP reads from serialised text. */
const unserialised = (text: string): unknown =>
  JSON.parse(
    execFileSync('php', ['-r', 'echo json_encode(unserialize(stream_get_contents(STDIN)));'], {
      input: text,
      encoding: 'utf8',
    }),
  );
const serialised = (value: object): string =>
  execFileSync('php', ['-r', 'echo serialize(json_decode(stream_get_contents(STDIN), true));'], {
    input: JSON.stringify(value),
    encoding: 'utf8',
  });

/** The forms in which WordPress and page builders store an address, and how they end in the database. */
function forms(scheme: string, host: string): Record<string, string> {
  const url = `${scheme}://${host}/wp-content/uploads/ü.png`;
  const json = JSON.stringify({ url }).replaceAll('/', '\\/');
  return {
    plain: `<img src="${url}"> ${scheme}://${host}. ${scheme}://${host}`,
    json,
    within: JSON.stringify({ settings: json }),
    unicode: JSON.stringify({ url }).replaceAll('/', '\\u002F'),
    query: `url:${encodeURIComponent(url)}|target:_blank`,
    nested: `?next=${encodeURIComponent(`https://x.test/?to=${encodeURIComponent(url)}`)}`,
    relative: `//${host}/a and %2F%2F${encodeURIComponent(host)}%2Fa`,
    block: `<!-- wp:image {"url":"${url}"} -->`,
  };
}

test.each([
  ['http', 'localhost:8080', 'http', 'shop.sites.test:18080'],
  ['https', 'old.example:8443', 'https', 'shop.test'],
  ['http', 'old.example', 'https', 'shop.test:8443'],
])('%s://%s becomes %s://%s in all forms', (fromScheme, from, scheme, host) => {
  const before = forms(fromScheme, from);
  const after = forms(scheme, host);
  expect(replaced(Object.values(before), [from], { scheme, host })).toEqual(Object.values(after));
  // The same within serialised values, also within each other.
  const deep = (value: object) => serialised({ ...value, inner: serialised({ list: [value] }) });
  const [whole = ''] = replaced([deep(before)], [from], { scheme, host });
  expect(whole).toBe(deep(after));
  expect(unserialised(whole)).toMatchObject(after);
});

test('another port of the host is another service, and other hosts are left alone', () => {
  const to = { scheme: 'https', host: 'shop.test:8443' };
  const others = [
    'http://localhost/ http://localhost:3000/ http://localhost:80801/ //localhost:80',
    'http://localhost.example:8080/ http://my-localhost:8080/ localhost:8080',
    'http%3A%2F%2Flocalhost%3A3000',
  ];
  expect(replaced(others, ['localhost:8080'], to)).toEqual(others);
  expect(replaced(['http://old.test:3000/a http%3A%2F%2Fold.test%3A81'], ['old.test'], to)).toEqual([
    'http://shop.test:3000/a http%3A%2F%2Fshop.test%3A81',
  ]);
  expect(replaced(['ftp://old.test git+http://old.test:80 //old.test'], ['old.test'], to)).toEqual([
    'ftp://shop.test git+http://shop.test:80 //shop.test:8443',
  ]);
  expect(replaced(['http://old.test:80/a https://OLD.test:443'], ['old.test'], to)).toEqual([
    'https://shop.test:8443/a https://shop.test:8443',
  ]);
});
