import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { has } from '../../../test/missing-programs.ts';
import { onlyInLong } from '../../../test/rounds.ts';

const Sample = Type.Object({ language: Type.String(), source: Type.String() });

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let folder: string;
let ca: string;
beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  ({ owner, accountId } = await homeport.ownedAccount());
  folder = mkdtempSync(join(tmpdir(), 'homeport-samples-'));
  ca = join(folder, 'ca.pem');
  writeFileSync(ca, homeport.ca);
});
afterAll(async () => {
  await homeport.remove();
  rmSync(folder, { recursive: true });
});

/** How to run a program of each language that trusts the certificate in `ca`. `needs`: what it runs, if it is another program. */
const RUNNERS: Record<string, { program: string; needs?: string; file: string; flags: () => string[] }> = {
  curl: { program: 'sh', needs: 'curl', file: 'request.sh', flags: () => [] },
  JavaScript: { program: process.execPath, file: 'request.mjs', flags: () => [] },
  Python: { program: 'python3', file: 'request.py', flags: () => [] },
  PHP: { program: 'php', file: 'request.php', flags: () => ['-d', `curl.cainfo=${ca}`] },
};

/** Calls a function of the page's scripts, which are not part of the TypeScript project. */
async function call(name: string, ...given: unknown[]): Promise<unknown> {
  const module: unknown = await import(new URL('samples.js', import.meta.url).href);
  const found: unknown = Reflect.get(Object(module), name);
  if (typeof found !== 'function') throw new Error(`samples.js exports no ${name}`);
  return found(...given);
}

const samplesOf = async (request: object) =>
  Value.Parse(Type.Array(Sample), await call('samplesOf', request));

async function runSample(language: string, request: object): Promise<string> {
  const runner = RUNNERS[language];
  const sample = (await samplesOf(request)).find((one) => one.language === language);
  if (!runner || !sample) throw new Error(`no sample in ${language}`);
  const file = join(folder, runner.file);
  writeFileSync(file, sample.source);
  const { stdout } = await promisify(execFile)(runner.program, [...runner.flags(), file], {
    env: {
      PATH: process.env.PATH,
      HOMEPORT_API_USERNAME: owner.credential.username,
      HOMEPORT_API_PASSWORD: owner.credential.password,
      CURL_CA_BUNDLE: ca,
      NODE_EXTRA_CA_CERTS: ca,
      SSL_CERT_FILE: ca,
    },
  });
  return stdout;
}

const present = Object.entries(RUNNERS).filter(
  ([, { program, needs = program }]) => needs.startsWith('/') || has(needs),
);

describe.each(present)('the example in %s', (language) => {
  const url = (path: string) => `${homeport.origin}/v1${path}`;

  onlyInLong(it)('sends a request without credentials', async () => {
    const output = await runSample(language, { method: 'GET', url: url('/status'), anonymous: true });
    expect(output).toContain('"success":true');
  });

  it('sends a credential and a body with quotes', async () => {
    const name = `It's a "site" in ${language}`;
    const request = { method: 'POST', url: url('/sites'), body: { name, account_id: accountId } };
    expect(await runSample(language, request)).toContain(JSON.stringify(name));
  });
});

it('the example of every list has its query parameters, with values that the endpoint takes', async () => {
  const description = (await homeport.anonymous.get('/swagger')).body;
  const paths = Object.entries<{ get?: { parameters?: { in: string; name: string; example?: unknown }[] } }>(
    Object(field(description, 'paths')),
  );
  let lists = 0;
  for (const [path, { get }] of paths) {
    const query = get?.parameters?.filter((one) => one.in === 'query') ?? [];
    if (query.length === 0) continue;
    const { url } = Value.Parse(
      Type.Object({ url: Type.String() }),
      await call('requestOf', 'https://localhost/v1', description, path, 'get'),
    );
    const { pathname, searchParams, search } = new URL(url);
    const named = query.filter(({ example }) => example !== '').map(({ name }) => name);
    expect([...searchParams.keys()], path).toEqual(named);
    const { status } = await owner.client.get(`${pathname.replace('/v1', '')}${search}`);
    expect([200, 404], url).toContain(status);
    lists += 1;
  }
  expect(lists).toBeGreaterThan(15);
});
