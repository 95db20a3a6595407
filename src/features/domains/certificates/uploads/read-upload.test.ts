import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import Type from 'typebox';
import { beforeAll, describe, expect, it } from 'vitest';
import { silent } from '../../../../../test/database.ts';
import {
  certificateMaker,
  type MadeCertificate,
  pkcs8,
} from '../../../../../test/servers/certificate-maker.ts';
import { DAY_MS } from '../../../../lib/durations.ts';
import { InvalidRequest, Unavailable } from '../../../../lib/failures.ts';
import { strangersProcess } from '../../../../lib/isolated/strangers-process.ts';
import { readUploadIsolated } from './isolated-upload.ts';

/** The day of the tests: OpenSSL checks the rest of a chain only with certificates that are valid then. */
const now = new Date(Math.floor(Date.now() / 1000) * 1000);
const make = certificateMaker(now);
/** The day so many days later, as messages name it. */
const day = (days: number) => new Date(now.getTime() + days * DAY_MS).toISOString().slice(0, 10);
const schema = Type.Object({ certificate: Type.String(), private_key: Type.String() });
const NAME = 'shop.example.com';

let publicRoot: MadeCertificate;
let intermediate: MadeCertificate;
let leaf: MadeCertificate;

beforeAll(async () => {
  publicRoot = await make({ name: 'Public Root', days: [-1000, 1000] });
  intermediate = await make({ name: 'Public Intermediate', days: [-500, 60] }, publicRoot);
  leaf = await make({ name: NAME, names: [NAME, '*.Example.com'] }, intermediate);
});

const read = (certificate: string, private_key: string) =>
  readUploadIsolated(
    { certificate, private_key, now, extraRoots: [publicRoot.pem] },
    { schema, log: silent },
  );

const chain = (...path: MadeCertificate[]) => path.map(({ pem }) => pem).join('');

/** The faults as `field code: message`. */
async function faultsOf(certificate: string, private_key: string): Promise<string[]> {
  const outcome = await read(certificate, private_key).catch((error: unknown) => error);
  if (!(outcome instanceof InvalidRequest)) throw new Error('it was not refused', { cause: outcome });
  return outcome.faults.map(({ field, code, message }) => `${field} ${code}: ${message}`);
}

async function chainFault(certificate: string, key: KeyObject = leaf.key): Promise<string> {
  return (await faultsOf(certificate, pkcs8(key))).join('\n');
}

async function keyFault(private_key: string): Promise<string> {
  return (await faultsOf(chain(leaf, intermediate), private_key)).join('\n');
}

describe('a chain', () => {
  it('is accepted with its intermediate, and is valid for as long as all of it is', async () => {
    const upload = await read(chain(leaf, intermediate), pkcs8(leaf.key));
    expect(upload).toEqual({
      pem: chain(leaf, intermediate),
      names: [NAME, '*.example.com'],
      notBefore: leaf.certificate.notBefore,
      notAfter: intermediate.certificate.notAfter,
      key: pkcs8(leaf.key),
      serialNumber: leaf.certificate.serialNumber.toUpperCase(),
    });
  });

  it('is accepted with text around the blocks, with CRLF, and in Base64', async () => {
    const expected = chain(leaf, intermediate);
    const key = pkcs8(leaf.key);
    const noisy = `\uFEFFBag Attributes\nsubject=CN\n${expected.replaceAll('\n', '\r\n')}\r\n`;
    const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\n');
    expect((await read(noisy, `comment\n${key}`)).pem).toBe(expected);
    expect((await read(base64(expected), base64(key))).pem).toBe(expected);
  });

  it('is served without its root', async () => {
    expect((await read(chain(leaf, intermediate, publicRoot), pkcs8(leaf.key))).pem).toBe(
      chain(leaf, intermediate),
    );
  });

  it('of a private authority needs the root', async () => {
    const root = await make({ name: 'Private Root', days: [-10, 10] });
    const own = await make({ name: NAME, names: [NAME] }, root);
    expect(await chainFault(chain(own), own.key)).toBe(
      `certificate incomplete_chain: The chain ends with "${NAME}", and its issuer "Private Root" is missing. Append the intermediate certificates of the authority; if the authority is a private one, its root too.`,
    );
    expect((await read(chain(own, root), pkcs8(own.key))).pem).toBe(chain(own));
    const expired = await make({ name: 'Old Root', days: [-10, -1] });
    const below = await make({ name: NAME, names: [NAME] }, expired);
    expect(await chainFault(chain(below, expired), below.key)).toContain(`"Old Root" expired on ${day(-1)}`);
  });

  it('is refused out of order, with a gap, with strangers, and with a certificate twice', async () => {
    const stranger = await make({ name: 'Stranger' });
    expect(await chainFault(chain(intermediate, leaf))).toBe(
      "certificate wrong_order: Certificate 2 is the server's. Put it first, then the certificate of its issuer, and so on.",
    );
    expect(await chainFault(chain(leaf, publicRoot, intermediate))).toBe(
      'certificate wrong_order: The chain is not in order: certificate 3 issued certificate 1, and has to follow it. Put the server certificate first, then the certificate of its issuer, and so on.',
    );
    expect(await chainFault(chain(leaf))).toContain('its issuer "Public Intermediate" is missing');
    expect(await chainFault(chain(leaf, publicRoot))).toContain(
      `certificate incomplete_chain: Certificate 2 ("Public Root") did not issue certificate 1 ("${NAME}"). Put the certificate of its issuer "Public Intermediate" there`,
    );
    expect(await chainFault(chain(leaf, intermediate, stranger))).toContain(
      'Certificate 3 ("Stranger") did not issue',
    );
    expect(await chainFault(chain(leaf, intermediate, intermediate))).toContain(
      'Certificate 3 is in the chain twice',
    );
  });

  it('is refused if a certificate has expired or is not valid yet', async () => {
    const late = await make({ name: NAME, names: [NAME], days: [-90, -1] }, intermediate);
    expect(await chainFault(chain(late, intermediate), late.key)).toBe(
      `certificate expired: The certificate "${NAME}" expired on ${day(-1)}. Renew it.`,
    );
    const early = await make({ name: NAME, names: [NAME], days: [2, 90] }, intermediate);
    expect(await chainFault(chain(early, intermediate), early.key)).toContain(
      `is valid from ${day(2)} on. Upload it then.`,
    );
    const old = await make({ name: 'Old Intermediate', days: [-90, -1] }, publicRoot);
    const below = await make({ name: NAME, names: [NAME] }, old);
    expect(await chainFault(chain(below, old), below.key)).toBe(
      `certificate expired: The intermediate certificate "Old Intermediate" expired on ${day(-1)}. Download the current chain from the authority.`,
    );
  });

  it('is refused if self-signed, of an authority, for clients, or without names', async () => {
    const own = await make({ name: NAME, names: [NAME] });
    expect(await chainFault(chain(own), own.key)).toContain('certificate self_signed:');
    expect(await chainFault(chain(intermediate, publicRoot), intermediate.key)).toContain(
      'certificate not_a_server:',
    );
    const client = await make({ name: NAME, names: [NAME], usages: ['1.3.6.1.5.5.7.3.2'] }, intermediate);
    expect(await chainFault(chain(client, intermediate), client.key)).toContain('is not for servers');
    const nameless = await make({ name: NAME, names: [] }, intermediate);
    expect(await chainFault(chain(nameless, intermediate), nameless.key)).toContain('certificate no_names:');
  });

  it('is refused with weak keys and signatures', async () => {
    const short = await make({ name: NAME, names: [NAME], keys: 'rsa1024' }, intermediate);
    expect(await chainFault(chain(short, intermediate), short.key)).toContain(
      `The key of "${NAME}" is an RSA key of 1024 bits, which is too weak.`,
    );
    const unusual = await make({ name: NAME, names: [NAME], keys: 'p521' }, intermediate);
    expect(await chainFault(chain(unusual, intermediate), unusual.key)).toContain('on the curve secp521r1');
    const weak = await make({ name: 'Weak Authority', keys: 'rsa1024' }, publicRoot);
    const below = await make({ name: NAME, names: [NAME] }, weak);
    expect(await chainFault(chain(below, weak), below.key)).toContain('The key of "Weak Authority" is');
    const sha1 = await make({ name: 'Old Hash', keys: 'rsa2048sha1' }, publicRoot);
    const hashed = await make({ name: NAME, names: [NAME] }, sha1);
    expect(await chainFault(chain(hashed, sha1), hashed.key)).toContain('certificate weak_signature:');
  });

  it('is refused if it is longer than one of its authorities allows', async () => {
    const limited = await make({ name: 'Limited', pathLength: 0 }, publicRoot);
    const own = await make({ name: NAME, names: [NAME] }, limited);
    expect((await read(chain(own, limited), pkcs8(own.key))).pem).toBe(chain(own, limited));
    const below = await make({ name: 'Below' }, limited);
    const deep = await make({ name: NAME, names: [NAME] }, below);
    expect(await chainFault(chain(deep, below, limited), deep.key)).toBe(
      'certificate path_too_long: The certificate "Limited" (number 3) allows no intermediate certificate below it (pathLenConstraint), and the chain has 1. Get a certificate from another authority.',
    );
    const one = await make({ name: 'One', pathLength: 1 }, publicRoot);
    const middle = await make({ name: 'Middle' }, one);
    const third = await make({ name: NAME, names: [NAME] }, middle);
    expect((await read(chain(third, middle, one), pkcs8(third.key))).names).toEqual([NAME]);
    const lower = await make({ name: 'Lower' }, middle);
    const fourth = await make({ name: NAME, names: [NAME] }, lower);
    expect(await chainFault(chain(fourth, lower, middle, one), fourth.key)).toContain(
      '"One" (number 4) allows 1 intermediate certificate below it (pathLenConstraint), and the chain has 2.',
    );
  });

  it('is refused if the root of a private authority allows no such chain', async () => {
    const root = await make({ name: 'Private Root', pathLength: 0 });
    const middle = await make({ name: 'Middle' }, root);
    const own = await make({ name: NAME, names: [NAME] }, middle);
    expect(await chainFault(chain(own, middle, root), own.key)).toContain('certificate path_too_long:');
  });

  it('is refused if one of its authorities may not certify its names', async () => {
    const refusal = /^certificate name_not_permitted: .* limits them \(.+\)\. Get a certificate/;
    for (const limits of [
      { permitted: ['other.example'] },
      { excluded: ['example.com'] },
      { permitted: ['example.com'], excluded: [NAME] },
    ]) {
      const limited = await make({ name: 'Limited', limits }, publicRoot);
      const own = await make({ name: NAME, names: [NAME] }, limited);
      expect(await chainFault(chain(own, limited), own.key)).toMatch(refusal);
      const below = await make({ name: 'Below' }, limited);
      const deep = await make({ name: NAME, names: [NAME] }, below);
      expect(await chainFault(chain(deep, below, limited), deep.key)).toMatch(refusal);
      const root = await make({ name: 'Private Root', limits });
      const direct = await make({ name: NAME, names: [NAME] }, root);
      expect(await chainFault(chain(direct, root), direct.key)).toMatch(refusal);
    }
    const limited = await make({ name: 'Limited', limits: { permitted: ['example.com'] } }, publicRoot);
    const own = await make({ name: NAME, names: [NAME] }, limited);
    expect((await read(chain(own, limited), pkcs8(own.key))).names).toEqual([NAME]);
    const mixed = await make({ name: NAME, names: [NAME, 'other.example'] }, limited);
    expect(await chainFault(chain(mixed, limited), mixed.key)).toMatch(refusal);
  });

  it('is refused if one of its authorities may not sign certificates', async () => {
    const signer = await make({ name: 'Signer', mayCertify: false }, publicRoot);
    const own = await make({ name: NAME, names: [NAME] }, signer);
    expect(await chainFault(chain(own, signer), own.key)).toBe(
      'certificate not_an_authority: Certificate 2 ("Signer") may not sign certificates (keyUsage without keyCertSign). Get a certificate from another authority.',
    );
  });

  it('is refused if one of its issuers is no authority', async () => {
    const server = await make({ name: 'Another Server', names: ['other.example'] }, publicRoot);
    const own = await make({ name: NAME, names: [NAME] }, server);
    expect(await chainFault(chain(own, server), own.key)).toBe(
      'certificate not_an_authority: Certificate 2 ("Another Server") may not sign certificates (basicConstraints without CA). Get a certificate from another authority.',
    );
  });

  it('is refused if its authority is not for servers', async () => {
    const clients = await make({ name: 'Clients Only', usages: ['1.3.6.1.5.5.7.3.2'] }, publicRoot);
    const own = await make({ name: NAME, names: [NAME] }, clients);
    expect(await chainFault(chain(own, clients), own.key)).toMatch(
      /^certificate unusable: Browsers refuse this certificate or its chain: .+\. Get a new one/,
    );
  });

  it('is refused if it is no chain', async () => {
    for (const [text, code] of [
      ['', 'invalid_pem'],
      ['nonsense', 'invalid_pem'],
      ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'invalid_pem'],
      ['-----BEGIN CERTIFICATE-----\n', 'invalid_pem'],
      [leaf.pem.slice(0, -20), 'invalid_pem'],
      [`-----BEGIN PKCS7-----\nAAAA\n-----END PKCS7-----\n`, 'invalid_pem'],
      [leaf.pem.repeat(100), 'too_many'],
      [chain(leaf, intermediate) + pkcs8(leaf.key), 'contains_key'],
    ] as const) {
      expect(await chainFault(text), text.slice(0, 80)).toContain(`certificate ${code}:`);
    }
  });
});

describe('a private key', () => {
  it('is accepted as PKCS#8, PKCS#1 and SEC1, RSA and ECDSA', async () => {
    const rsa = await make({ name: NAME, names: [NAME], keys: 'rsa2048' }, intermediate);
    const p384 = await make({ name: NAME, names: [NAME], keys: 'p384' }, intermediate);
    const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
    for (const [made, text] of [
      [rsa, pkcs8(rsa.key)],
      [rsa, rsa.key.export({ type: 'pkcs1', format: 'pem' }).toString()],
      [leaf, parameters + leaf.key.export({ type: 'sec1', format: 'pem' }).toString()],
      [p384, p384.key.export({ type: 'sec1', format: 'pem' }).toString()],
    ] as const) {
      expect((await read(chain(made, intermediate), text)).key).toBe(pkcs8(made.key));
    }
  });

  it('is refused if encrypted', async () => {
    const cipher = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const;
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    for (const text of [
      leaf.key.export({ type: 'pkcs8', ...cipher }).toString(),
      leaf.key.export({ type: 'sec1', ...cipher }).toString(),
      rsa.export({ type: 'pkcs1', ...cipher }).toString(),
    ]) {
      expect(await keyFault(text)).toMatch(/^private_key encrypted: .*openssl pkey/);
    }
  });

  it('is refused if it is another one, damaged, or of a kind that browsers do not accept', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    expect(await keyFault(pkcs8(other))).toContain('private_key key_mismatch:');
    const ed25519 = generateKeyPairSync('ed25519').privateKey;
    expect(await keyFault(pkcs8(ed25519))).toContain(
      'private_key weak_key: The private key is a key of the kind ed25519',
    );
    const rsa = await make({ name: NAME, names: [NAME], keys: 'rsa2048' }, intermediate);
    const jwk = rsa.key.export({ format: 'jwk' });
    const wrong = { ...jwk, d: jwk.n, dp: jwk.p, dq: jwk.q, qi: jwk.p };
    const damaged = createPrivateKey({ key: wrong, format: 'jwk' });
    expect(await chainFault(chain(rsa, intermediate), damaged)).toContain('private_key invalid_key:');
  });

  it('is refused if it is no key, and is never quoted', async () => {
    const key = pkcs8(leaf.key);
    for (const text of ['', 'nonsense', leaf.pem, key + key, key.replace(/^[^-]/m, 'A'), key.slice(0, -30)]) {
      const fault = await keyFault(text);
      expect(fault).toMatch(/^private_key (invalid_pem|too_many|key_mismatch|invalid_key):/);
      for (const line of key.split('\n').slice(1, 3)) expect(fault).not.toContain(line.slice(4, 24));
    }
  });

  it('is checked beside a wrong certificate', async () => {
    expect(await faultsOf('nonsense', 'nonsense')).toEqual([
      expect.stringMatching(/^certificate invalid_pem/),
      expect.stringMatching(/^private_key invalid_pem/),
    ]);
  });
});

it('reads hostile texts', async () => {
  for (const text of [
    '-----BEGIN '.repeat(9_000),
    'A'.repeat(100_000),
    '-----BEGIN CERTIFICATE-----\n'.repeat(3_500),
  ]) {
    expect(await chainFault(text)).toContain('invalid_pem');
  }
});

it('a check that cannot run is no fault of the certificate', async () => {
  const check = () => read(chain(leaf, intermediate), pkcs8(leaf.key));
  const { execPath } = process;
  strangersProcess.close();
  process.execPath = '/nonexistent/node';
  try {
    await expect(check()).rejects.toThrow(Unavailable);
  } finally {
    process.execPath = execPath;
  }
  const stopped = check();
  strangersProcess.close();
  await expect(stopped).rejects.toThrow(Unavailable);
});
