import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../wordpress/php/replace-text.php', import.meta.url));

/** The values with replaced URLs, and those that PHP cannot unserialise afterwards. */
function replaced(
  values: string[],
  from: string[],
  to: { scheme: string; host: string; ports?: Record<string, string> },
): string[] {
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

test('a URL that keeps its scheme gets the port of that scheme', () => {
  const to = { scheme: 'keep', host: 'shop.test', ports: { http: '8080', https: '8443' } };
  const before =
    'http://old.test/a https://old.test http://old.test:8080 //old.test/b https%3A%2F%2Fold.test';
  expect(replaced([before], ['old.test', 'old.test:8080', 'old.test:8443'], to)).toEqual([
    'http://shop.test:8080/a https://shop.test:8443 http://shop.test:8080 //shop.test/b https%3A%2F%2Fshop.test%3A8443',
  ]);
});

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Texts in which page builders keep Base64 of `html`. */
const built = (html: string) => [
  `[vc_row]\n[vc_raw_html css=""]${base64(encodeURIComponent(html))}[/vc_raw_html][/vc_row]`,
  `[fusion_code]${base64(html)}[/fusion_code]`,
  `[vc_gmaps link="#E-8_${base64(encodeURIComponent(html))}" size="3"]`,
  JSON.stringify({ content: `[fusion_text dynamic_params="${base64(JSON.stringify({ html }))}" /]` }),
  `[a_list items="${base64(serialised({ html }))}"]`,
];

test('URLs in the Base64 of page builders are replaced, also in serialised values', () => {
  const html = (host: string) => `<iframe src="https://${host}/map?ü" title="where we are"></iframe>`;
  const to = { scheme: 'https', host: 'a-longer-name.test' };
  const [before, after] = [built(html('old.test')), built(html('a-longer-name.test'))];
  expect(replaced(before, ['old.test'], to)).toEqual(after);
  expect(replaced([serialised({ before })], ['old.test'], to)).toEqual([serialised({ before: after })]);
});

test('other Base64 stays: signed, of files, of other hosts, with a second form, or not in a shortcode', () => {
  const link = 'see https://old.test/ and the rest';
  const others = [
    `{"encoded":"${base64(link)}","hash":"1"}`,
    `[token value="x.${base64(link)}.y"]`,
    `[image data="${Buffer.concat([Buffer.from(link), Buffer.from([0, 255])]).toString('base64')}"]`,
    `[fusion_code]${base64('see https://old.test.example/ and more')}[/fusion_code]`,
    `[fusion_code]${base64(link).replace(/=*$/, '')}[/fusion_code]`,
    `[fusion_code]${base64(link).slice(0, 12)}\n${base64(link).slice(12)}[/fusion_code]`,
  ];
  expect(replaced(others, ['old.test'], { scheme: 'https', host: 'new.test' })).toEqual(others);
});

test('a search for the Base64 of a name finds it at every place', () => {
  const code = `require $argv[1]; echo json_encode(base64_of('shop.old.test'));`;
  const parts: string[] = JSON.parse(execFileSync('php', ['-r', code, SCRIPT], { encoding: 'utf8' }));
  for (const before of ['', 'x', 'xx', 'https://', '<a href="https://']) {
    const text = base64(`${before}shop.old.test/and more`);
    expect(parts.some((part) => text.includes(part))).toBe(true);
  }
  expect(parts.every((part) => part.length >= 15)).toBe(true);
});
