import { expect, it } from 'vitest';
import type { Proof } from '../../../hosting/contract/proofs.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import { NameNotResolved } from '../../../network/dns/resolver.ts';
import { ProbeFailure, type Prober, type RedirectChain, type Target } from '../../../network/probe/prober.ts';
import { worst } from './observe-tls.ts';
import { hostToProbe, probeReach } from './reach.ts';

const HERE = '203.0.113.5';
const HERE6 = '2001:db8::5';
const OTHER = '198.51.100.7';

const signal = new AbortController().signal;
const target = (address: string, allowed = true): Target => ({
  address,
  family: address.includes(':') ? 6 : 4,
  allowed,
});

type Answer = 'here' | 'another' | ProbeFailure;

/** Scripts the answer of each address of a name, and a host that remembers published tokens. */
function world(addresses: Record<string, Answer>, more: { targets?: Target[]; refuses?: Error } = {}) {
  const tokens = new Map<string, Proof>();
  const published: Proof[] = [];
  const asked: string[] = [];
  const prober: Pick<Prober, 'targets' | 'follow'> = {
    async targets() {
      if (more.refuses) throw more.refuses;
      return more.targets ?? Object.keys(addresses).map((address) => target(address));
    },
    async follow(url, _signal, { address = '' } = {}): Promise<RedirectChain> {
      asked.push(`${url.protocol}//${address}`);
      const answer = addresses[address];
      if (answer instanceof ProbeFailure) return { urls: [url.href], last: null, failure: answer };
      const body = answer === 'here' ? (tokens.get(`${url.hostname}${url.pathname}`)?.text ?? '') : 'hello';
      const last = { status: 200, headers: {}, body, location: null };
      return { urls: [url.href], last, failure: null };
    },
  };
  const unused = () => Promise.reject(new Error('not asked here'));
  return {
    tokens,
    published,
    asked,
    probe: (name: string) =>
      probeReach(
        name,
        {
          prober: { ...prober, get: unused, handshake: unused },
          random: systemRandomness,
          host: {
            async publish(token) {
              published.push(token);
              tokens.set(`${token.hostname}${token.path}`, token);
            },
            withdraw: async ({ hostname, path }) => void tokens.delete(`${hostname}${path}`),
          },
        },
        signal,
      ),
  };
}

const failing = (problem: ProbeFailure['problem'], code?: string) =>
  new ProbeFailure(problem, `It is ${problem}.`, { cause: Object.assign(new Error(), { code }) });

it('arrives if the token comes back over every family', async () => {
  const { probe, tokens, published, asked } = world({ [HERE]: 'here', [HERE6]: 'here' });
  expect(await probe('example.com')).toMatchObject({
    arrivesByHttp: true,
    arrivesByHttps: true,
    untried: false,
    sentence: null,
  });
  expect(asked.toSorted()).toEqual(
    ['http', 'https'].flatMap((scheme) => [HERE6, HERE].map((at) => `${scheme}://${at}`)).toSorted(),
  );
  expect(published).toHaveLength(1);
  expect(tokens.size).toBe(0);
});

it('does not arrive if one family leads elsewhere', async () => {
  const { probe } = world({ [HERE]: 'here', [HERE6]: failing('timeout') });
  expect(await probe('example.com')).toMatchObject({
    arrivesByHttp: false,
    arrivesByHttps: false,
    sentence: `Remove the AAAA record ${HERE6} of example.com; it does not lead here.`,
  });
});

it('ignores IPv6 addresses if this machine has no IPv6', async () => {
  const without = failing('unreachable', 'ENETUNREACH');
  expect(await world({ [HERE]: 'here', [HERE6]: without }).probe('example.com')).toMatchObject({
    arrivesByHttp: true,
  });
  const astray = failing('unreachable', 'EHOSTUNREACH');
  expect(await world({ [HERE]: 'here', [HERE6]: astray }).probe('example.com')).toMatchObject({
    arrivesByHttp: true,
  });
  for (const alone of [without, astray]) {
    expect(await world({ [HERE6]: alone }).probe('example.com')).toMatchObject({ arrivesByHttp: false });
  }
});

it.each<[string, Answer]>([
  ['another server', 'another'],
  ['silence', failing('timeout')],
  ['no way to that host', failing('unreachable', 'EHOSTUNREACH')],
])(
  'does not arrive where one of several addresses leads to %s: an authority may pick it',
  async (_, other) => {
    const { probe } = world({ [HERE]: 'here', [OTHER]: other });
    expect(await probe('example.com')).toMatchObject({
      arrivesByHttp: false,
      reached: false,
      sentence: `Remove the A record ${OTHER} of example.com; it does not lead here.`,
    });
  },
);

it('arrives if all of several addresses do', async () => {
  const { probe } = world({ [HERE]: 'here', '203.0.113.6': 'here', [HERE6]: 'here' });
  expect(await probe('example.com')).toMatchObject({ arrivesByHttp: true, reached: true });
});

it('names the server that answers instead', async () => {
  expect((await world({ [OTHER]: 'another' }).probe('example.com')).sentence).toBe(
    `example.com leads to another server at ${OTHER}; set its DNS record to this platform.`,
  );
  expect((await world({ [OTHER]: failing('refused') }).probe('example.com')).sentence).toBe(
    'example.com cannot be reached by HTTP: It is refused.',
  );
});

it('publishes no token without an address to try', async () => {
  const inside = world({}, { targets: [target('10.0.0.1', false)] });
  expect(await inside.probe('example.com')).toMatchObject({ untried: true, arrivesByHttp: false });
  const missing = world({}, { refuses: new NameNotResolved('It does not exist.', { kind: 'no_address' }) });
  expect(await missing.probe('example.com')).toMatchObject({ untried: true, sentence: 'It does not exist.' });
  expect([...inside.published, ...missing.published]).toEqual([]);
});

it('counts a private address next to a public one, but not the ::1 of localhost', async () => {
  const both = (address: string, other: string) => [target(address), target(other, false)];
  const beside = world({ [HERE]: 'here' }, { targets: both(HERE, 'fd00::1') });
  expect(await beside.probe('example.com')).toMatchObject({ arrivesByHttp: false });
  expect(beside.asked).not.toContain('http://fd00::1');
  const local = world({ '127.0.0.1': 'here' }, { targets: both('127.0.0.1', '::1') });
  expect(await local.probe('blog.localhost')).toMatchObject({ arrivesByHttp: true });
});

it('always withdraws the token, and tries few of many addresses', async () => {
  const broken = world({ [HERE]: 'here' });
  const many = Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`203.0.113.${at}`, 'here' as const]),
  );
  const { probe, asked } = world(many);
  await probe('example.com');
  expect(asked).toHaveLength(8);
  await expect(broken.probe('exa mple.com')).rejects.toThrow();
  expect(broken.tokens.size).toBe(0);
});

it('replaces the star of a wildcard by a random label, even in a long name', () => {
  expect(hostToProbe('example.com', systemRandomness)).toBe('example.com');
  expect(hostToProbe('*.example.com', systemRandomness)).toMatch(/^[0-9a-f]{12}\.example\.com$/);
  const long = `*.${'a'.repeat(61)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
  expect(hostToProbe(long, systemRandomness).length).toBeLessThanOrEqual(253);
});

it('judges TLS by the worse family, unless this machine has no route to it', () => {
  const fine = { certificate: null, failure: null };
  const faulty = (problem: 'expired' | 'self_signed' | 'refused' | 'unreachable') => ({
    certificate: null,
    failure: { problem, sentence: problem },
  });
  expect(worst([fine, fine]).status).toBe('verified');
  expect(worst([fine, faulty('refused')])).toMatchObject({ status: 'none', failure: { problem: 'refused' } });
  expect(worst([faulty('self_signed'), fine]).status).toBe('self_signed');
  expect(worst([fine, faulty('unreachable')]).status).toBe('verified');
  expect(worst([faulty('unreachable')]).status).toBe('none');
});
